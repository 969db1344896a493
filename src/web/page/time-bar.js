/** An item's life as one bar: a stretch per state. */
import { rowOfState } from '../../model/item-states.ts';
import { element } from './dom.js';
import { clock, duration } from './format.js';

export function timeBar(stretches, start, end) {
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
