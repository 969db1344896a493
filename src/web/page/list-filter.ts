/** The filter of a list, kept in the address: a form above the list, and the links to older entries. */
import { goTo } from './address.ts';
import { type Child, element } from './dom.ts';

/** One field of the form. */
export interface FilterField {
  /** In the address, and of the API. */
  readonly name: string;
  readonly text: string;
  /** Values to choose from; absent: any text, `*` stands for anything. */
  readonly values?: readonly string[];
}

/** Entries of one page. */
export const PAGE_LENGTH = 50;

/** What the API is asked: one entry more than is shown, to know whether there are older ones. */
export function filterQuery(fields: readonly FilterField[]): string {
  const given = new URLSearchParams(location.search);
  const wanted = new URLSearchParams();
  for (const name of [...fields.map(field => field.name), 'idx_max'])
    for (const value of given.getAll(name)) if (value !== '') wanted.append(name, value);
  wanted.set('limit', String(PAGE_LENGTH + 1));
  return wanted.toString();
}

/** @param address of the list. */
export function filterForm(address: string, fields: readonly FilterField[]): HTMLElement {
  const given = new URLSearchParams(location.search);
  const form = element(
    'form',
    { class: 'filter', role: 'search', 'aria-label': 'Filter' },
    fields.map(field => element('label', {}, field.text, input(field, given.get(field.name) ?? ''))),
    element('button', { type: 'submit' }, 'Show'),
    fields.some(({ name }) => given.has(name)) &&
      element('a', { 'data-route': true, href: address }, 'Clear'),
  );
  form.addEventListener('submit', event => {
    event.preventDefault();
    const query = new URLSearchParams();
    for (const [name, value] of new FormData(form))
      if (typeof value === 'string' && value.trim() !== '') query.set(name, value.trim());
    goTo(query.size === 0 ? address : `${address}?${query}`);
  });
  return form;
}

function input({ name, values }: FilterField, value: string): HTMLElement {
  if (values === undefined)
    return element('input', { id: `filter-${name}`, name, value, autocomplete: 'off', spellcheck: 'false' });
  const known = value === '' || values.includes(value) ? values : [value, ...values];
  const options = known.map(each => element('option', { value: each, selected: each === value }, each));
  const any = element('option', { value: '', selected: value === '' }, 'any');
  return element('select', { id: `filter-${name}`, name }, any, options);
}

/** Links to the pages before and behind. @param last `_id` of the last entry shown; undefined: there are no older ones. */
export function olderAndNewest(address: string, last: number | undefined): Child {
  const here = new URLSearchParams(location.search);
  const link = (text: string, query: URLSearchParams) =>
    element('a', { 'data-route': true, href: query.size === 0 ? address : `${address}?${query}` }, text);
  const newest = new URLSearchParams(here);
  newest.delete('idx_max');
  const older = new URLSearchParams(here);
  older.set('idx_max', String((last ?? 1) - 1));
  return element(
    'nav',
    { class: 'older', 'aria-label': 'More entries' },
    here.has('idx_max') && link('← Newest', newest),
    last !== undefined && link('Older →', older),
  );
}
