/**
 * The dialog of an act: what it needs to know, then what it costs (the API's dry run), then the answer.
 *
 *     fields ─ Next ─► cost ─ verb ─► answer          an act without fields begins with its cost
 *
 * An act that resets nothing says itself what it does, in place of the cost.
 *
 * A refusal is shown in the service's words, wherever it comes.
 */
import type { ActCostDocument } from '../../api/act-cost.ts';
import type { Act, ActField, Filled } from './acts.ts';
import { api, base, type Posted, sendJson } from './address.ts';
import { type Child, element, show } from './dom.ts';

/** Event of the document when a dialog closes whose act the service has taken. */
export const ACTED = 'gatehouse-acted';

/** Buttons that open the dialogs of acts. @param place makes their ids unique in the document. */
export function actButtons(tenant: string, acts: readonly Act[], place: string): HTMLElement | null {
  if (acts.length === 0) return null;
  return element(
    'span',
    { class: 'acts' },
    acts.map((act, index) =>
      button(act.verb, () => new ActDialog(tenant, act).open(), {
        id: `act-${place}-${index}`,
        'aria-label': `${act.verb} ${act.subject}`,
        class: 'act',
      }),
    ),
  );
}

class ActDialog {
  readonly #tenant: string;
  readonly #act: Act;
  readonly #dialog = element('dialog', { class: 'act-dialog', 'aria-labelledby': 'act-title' });
  readonly #body = element('div', { class: 'act-body' });
  #filled: Filled = {};
  #isTaken = false;

  constructor(tenant: string, act: Act) {
    this.#tenant = tenant;
    this.#act = act;
    this.#dialog.append(element('h2', { id: 'act-title' }, `${act.verb} ${act.subject}`), this.#body);
    this.#dialog.addEventListener('close', () => {
      this.#dialog.remove();
      if (this.#isTaken) document.dispatchEvent(new Event(ACTED));
    });
  }

  /** The page behind it is out of reach until it closes; Escape closes it. */
  open(): void {
    document.body.append(this.#dialog);
    this.#dialog.showModal();
    if (this.#act.fields.length > 0) this.#askFields();
    else void this.#askCost();
  }

  #askFields(): void {
    const inputs = this.#act.fields.map(field =>
      inputOf(field, this.#filled[field.name] ?? field.preset ?? ''),
    );
    const form = element(
      'form',
      { method: 'dialog' },
      inputs.map(({ label }) => label),
      element(
        'p',
        { class: 'act-buttons' },
        this.#cancel('Cancel'),
        element('button', { class: 'act is-main' }, 'Next'),
      ),
    );
    form.addEventListener('submit', event => {
      event.preventDefault();
      this.#filled = Object.fromEntries(inputs.map(({ name, input }) => [name, input.value.trim()]));
      void this.#askCost();
    });
    this.#show(form);
    inputs[0]?.input.focus();
  }

  async #askCost(): Promise<void> {
    const { effect } = this.#act;
    if (effect !== undefined) return this.#offer(effect);
    this.#say('Asking what it costs …');
    const found = await this.#send<ActCostDocument>('/dry-run');
    if (found.kind === 'refused') return this.#refused(found.text);
    if (found.answer === undefined) return this.#refused('the service did not say what it costs');
    const { items, refusals, text } = found.answer;
    if (items.length === 0 && refusals.length > 0) return this.#refused(refusals.join('; '));
    this.#offer(
      `This ${text}.`,
      refusals.map(each => element('p', { class: 'quiet' }, each)),
      items.length > 1 && costList(items),
    );
  }

  #offer(effect: string, before: Child = null, after: Child = null): void {
    const go = button(this.#act.verb, () => void this.#perform(), { class: 'act is-main' });
    this.#show(
      before,
      element('p', { class: 'act-cost', role: 'status' }, effect),
      after,
      element('p', { class: 'act-buttons' }, this.#cancel('Cancel'), go),
    );
    go.focus();
  }

  async #perform(): Promise<void> {
    this.#say('Asking the service …');
    const found = await this.#send<unknown>('');
    if (found.kind === 'refused') return this.#refused(found.text);
    this.#isTaken = true;
    this.#end(element('p', { class: 'act-done', role: 'status' }, this.#act.done));
  }

  #send<Answer>(more: string): Promise<Posted<Answer | undefined>> {
    const { path, body, method, isOfAll } = this.#act;
    const wanted = `${path(this.#filled)}${more}`;
    const address = isOfAll === true ? `${base}/api/${wanted}` : api(this.#tenant, wanted);
    return sendJson(address, body(this.#filled), method);
  }

  #refused(text: string): void {
    this.#end(element('p', { class: 'act-refused', role: 'alert' }, `Refused: ${text}`));
  }

  #end(said: Child): void {
    const back = this.#act.fields.length > 0 && button('Back', () => this.#askFields(), { class: 'act' });
    const close = this.#cancel('Close');
    this.#show(said, element('p', { class: 'act-buttons' }, back, close));
    close.focus();
  }

  #say(text: string): void {
    this.#show(element('p', { class: 'quiet', role: 'status' }, text));
  }

  #show(...children: readonly Child[]): void {
    show(this.#body, ...children);
  }

  #cancel(text: string): HTMLElement {
    return button(text, () => this.#dialog.close(), { class: 'act' });
  }
}

/** The first ones: the sentence counts all. */
function costList(items: ActCostDocument['items']): HTMLElement {
  const MOST = 8;
  return element(
    'ul',
    { class: 'act-items' },
    items.slice(0, MOST).map(({ change, effect }) => element('li', {}, `${EFFECTS[effect]}: ${change}`)),
    items.length > MOST && element('li', { class: 'quiet' }, `and ${items.length - MOST} more`),
  );
}

const EFFECTS: { readonly [effect in ActCostDocument['items'][number]['effect']]: string } = {
  reset: 'is reset',
  left: 'leaves',
  rerun: 'runs again',
  paused: 'waits',
  resumed: 'goes on',
};

function inputOf(
  { name, label, choices, placeholder, longest, optional }: ActField,
  value: string,
): {
  readonly name: string;
  readonly label: HTMLElement;
  readonly input: HTMLInputElement | HTMLSelectElement;
} {
  const id = `act-field-${name}`;
  const input =
    choices === undefined
      ? element('input', {
          ...{ id, placeholder, maxlength: longest, required: optional !== true },
          ...{ autocomplete: 'off', value },
        })
      : element(
          'select',
          { id },
          choices.map(([key, text]) => element('option', { value: key, selected: key === value }, text)),
        );
  return { name, input, label: element('p', {}, element('label', { for: id }, label), input) };
}

function button(
  text: string,
  act: () => void,
  attributes: { readonly [name: string]: string },
): HTMLButtonElement {
  const made = element('button', { type: 'button', ...attributes }, text);
  made.addEventListener('click', act);
  return made;
}
