import type { DecisionsDocument } from '../../api/service.ts';
import { type Child, element } from './dom.ts';
import { clock, dateAndClock, millisecondsOf } from './format.ts';

type Decisions = DecisionsDocument['decisions'];

/** Decisions about the change that concern this item, or no item at all (why it was not enqueued). */
export function decisionList(decisions: Decisions, item: string): readonly Child[] {
  const shown = decisions.filter(decision => decision.item === null || decision.item === item);
  return [
    element('h2', { id: 'decisions-title' }, 'Decisions'),
    shown.length === 0
      ? element('p', { class: 'quiet' }, 'None recorded yet.')
      : element('ol', { class: 'decisions' }, shown.map(decisionRow)),
  ];
}

function decisionRow(decision: Decisions[number]): HTMLElement {
  const at = millisecondsOf(decision.at);
  return element(
    'li',
    {},
    element('time', { title: dateAndClock(at) }, clock(at)),
    element('code', {}, decision.code),
    element('span', {}, decision.text),
  );
}
