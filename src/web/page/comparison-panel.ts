/** An item beside the last that passed, and beside what is usual: loaded when the reader opens it. */
import type { ComparisonDocument } from '../../api/comparison.ts';
import { rowOfState } from '../../model/item-states.ts';
import { api, errorTextOf, fetchJson, pages } from './address.ts';
import { type Child, element, show } from './dom.ts';
import { count, duration, resultWord } from './format.ts';
import { table } from './table.ts';

/** Loads again each time it is opened, since a live item goes on. */
export function comparisonPanel(tenant: string, uuid: string): HTMLElement {
  const inside = element('div', {});
  const details = element(
    'details',
    { class: 'beside' },
    element('summary', {}, element('h2', {}, 'Beside the last that passed')),
    inside,
  );
  details.addEventListener('toggle', () => {
    if (details instanceof HTMLDetailsElement && details.open) void load(inside, tenant, uuid);
  });
  return element('section', { class: 'panel', 'aria-label': 'Beside the last that passed' }, details);
}

async function load(inside: HTMLElement, tenant: string, uuid: string): Promise<void> {
  if (inside.childElementCount === 0) show(inside, quiet('Loading …'));
  try {
    const comparison = await fetchJson<ComparisonDocument>(api(tenant, `item/${uuid}/compare`));
    if (comparison === undefined)
      return show(inside, quiet('This item is just between its queue and the history; open this again.'));
    show(inside, ...drawn(tenant, comparison));
  } catch (error) {
    show(inside, quiet(`This cannot be loaded (${errorTextOf(error)}); open it again to try once more.`));
  }
}

function drawn(tenant: string, { other, usualOf, phases }: ComparisonDocument): readonly Child[] {
  const slower = phases.filter(phase => phase.slower).length;
  const isUsualKnown = phases.some(({ usual }) => usual !== null);
  const headings = ['Phase', 'This#', 'Other#', ...(isUsualKnown ? ['Usual#', 'At most#'] : []), ''];
  return [
    other === null
      ? quiet('No item of its project and branch has passed in this pipeline lately.')
      : element(
          'p',
          {},
          `${slower === 0 ? 'Nothing' : count(slower, 'phase')} took noticeably longer. Beside it: `,
          element(
            'a',
            { 'data-route': true, href: pages.item(tenant, other.item) },
            other.changes.join(', '),
          ),
          `, ${resultWord(other.result ?? 'none')} after ${duration(other.ms)}.`,
        ),
    table(
      'Phases',
      headings,
      phases.map(phase => row(phase, isUsualKnown)),
    ),
    quiet(
      isUsualKnown
        ? `Usual and at most: half and 19 of 20 of the last ${usualOf} items of its project and branch that passed.`
        : 'Too few items have passed to say what is usual.',
    ),
  ];
}

type Phase = ComparisonDocument['phases'][number];

function row(
  { level, state, job, name, ms, other, usual, slower }: Phase,
  isUsualKnown: boolean,
): readonly Child[] {
  const words = state === undefined ? (name ?? job ?? '') : rowOfState(state).word;
  const usually = usual === null ? ['–', '–'] : [duration(usual.p50), duration(usual.p95)];
  return [
    element(level === 'job' ? 'b' : 'span', { class: `phase is-${level}` }, words),
    duration(ms),
    other === null ? '–' : duration(other),
    ...(isUsualKnown ? usually : []),
    slower && element('span', { class: 'warn' }, 'slower'),
  ];
}

function quiet(text: string): HTMLElement {
  return element('p', { class: 'quiet' }, text);
}
