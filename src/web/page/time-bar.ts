/** An item's life as one bar, with a part per stretch. */
import { rowOfState } from '../../model/item-states.ts';
import { element } from './dom.ts';
import { clock, duration } from './format.ts';

/** Times in milliseconds since the epoch. */
export interface ShownStretch {
  /** A state of `ITEM_STATES`; decides colour and word. */
  readonly name: string;
  readonly subject: string | null;
  readonly since: number;
  readonly until: number;
}

/** @param stretches within `start` and `end`, which are milliseconds since the epoch, too. */
export function timeBar(stretches: readonly ShownStretch[], start: number, end: number): HTMLElement {
  const total = Math.max(1, end - start);
  const bar = element('div', {
    class: 'time-bar',
    role: 'img',
    'aria-label': stretches
      .map(stretch => `${rowOfState(stretch.name).word} ${duration(stretch.until - stretch.since)}`)
      .join(', '),
  });
  for (const stretch of stretches) {
    const text = `${rowOfState(stretch.name).word} ${duration(stretch.until - stretch.since)} from ${clock(stretch.since)}`;
    const part = element('span', {
      class: `is-${rowOfState(stretch.name).role}`,
      title: stretch.subject === null ? text : `${text}: ${stretch.subject}`,
    });
    part.style.width = `${((stretch.until - stretch.since) / total) * 100}%`;
    bar.append(part);
  }
  return bar;
}
