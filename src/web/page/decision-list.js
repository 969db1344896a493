import { element } from './dom.js';
import { clock, dateAndClock, milliseconds } from './format.js';

/** Decisions about the change that concern this item, or no item at all (why it was not enqueued). */
export function decisionList(decisions, item) {
  const shown = decisions.filter(decision => decision.item === null || decision.item === item);
  return [
    element('h2', { id: 'decisions-title' }, 'Decisions'),
    shown.length === 0
      ? element('p', { class: 'quiet' }, 'None recorded yet.')
      : element('ol', { class: 'decisions' }, shown.map(decisionRow)),
  ];
}

function decisionRow(decision) {
  const at = milliseconds(decision.at);
  return element(
    'li',
    {},
    element('time', { title: dateAndClock(at) }, clock(at)),
    element('code', {}, decision.code),
    element('span', {}, decision.text),
  );
}
