import type { LiveItem } from '../../api/live-item.ts';
import type { DecisionsDocument } from '../../api/service.ts';
import { type Child, element } from './dom.ts';
import { clock, dateAndClock, millisecondsOf } from './format.ts';

type Decisions = DecisionsDocument['decisions'];

/**
 * Decisions about the item's first change that concern this item, or no item at all (why it was not enqueued).
 *
 * @param item its changes are not empty.
 */
export function decisionList(
  decisions: Decisions,
  { uuid, changes }: Pick<LiveItem, 'uuid' | 'changes'>,
): readonly Child[] {
  const shown = decisions.filter(decision => decision.item === null || decision.item === uuid);
  const about = changes.length > 1 ? ` about ${changes[0]?.text}` : '';
  return [
    element('h2', { id: 'decisions-title' }, `Decisions${about}`),
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
