/** Who reset whom, one by one in the order of time, and which jobs are flaky: the parts of the delays that name single items. */
import type { DelaysAnswer } from '../../api/delays.ts';
import { pages } from './address.ts';
import { type Child, element } from './dom.ts';
import { dateAndClock, durationOf, hourAndMinute, millisecondsOf, percent } from './format.ts';
import { table } from './table.ts';

/** A bar is as long as what the reset cost, compared with the costliest. */
export function resetCasesPanel({ tenant, resets }: DelaysAnswer): HTMLElement | false {
  const { list } = resets;
  if (list.length === 0) return false;
  const most = Math.max(1, ...list.map(({ lostBuildTime }) => millisecondsOf(lostBuildTime)));
  const isAll = list.length === resets.count;
  return element(
    'section',
    { class: 'panel', 'aria-labelledby': 'cases-title' },
    element(
      'h2',
      { id: 'cases-title' },
      'Who reset whom',
      element(
        'span',
        { class: 'total' },
        isAll ? 'in the order of time' : `the ${list.length} costliest, in the order of time`,
      ),
    ),
    element(
      'ol',
      { class: 'cases', tabindex: 0, 'aria-label': 'Resets' },
      list.map(each => {
        const lost = millisecondsOf(each.lostBuildTime);
        const bar = element('i', { class: 'number-bar', 'aria-hidden': 'true' });
        bar.style.width = `max(2px, ${percentOf(lost / most)})`;
        const at = millisecondsOf(each.at);
        return element(
          'li',
          {},
          element(
            'time',
            { datetime: new Date(at).toISOString(), title: dateAndClock(at) },
            hourAndMinute(at),
          ),
          element('span', { class: 'culprit' }, culpritOf(tenant, each)),
          element('span', { 'aria-label': 'reset' }, '→'),
          element('a', { 'data-route': true, href: pages.item(tenant, each.item) }, each.change),
          element('b', {}, durationOf(each.lostBuildTime)),
          element('span', { class: 'wide' }, bar),
        );
      }),
    ),
  );
}

function percentOf(share: number): string {
  return `${Math.round(share * 1000) / 10}%`;
}

function culpritOf(tenant: string, { culprit, code }: DelaysAnswer['resets']['list'][number]): Child {
  const reason = code.replaceAll('-', ' ');
  if (culprit === null) return reason;
  return [
    culprit.job !== null &&
      (culprit.build === null
        ? `${culprit.job} of `
        : [
            element('a', { 'data-route': true, href: pages.build(tenant, culprit.build) }, culprit.job),
            ' of ',
          ]),
    element(
      'a',
      { 'data-route': true, href: pages.item(tenant, culprit.item), title: reason },
      culprit.change,
    ),
  ];
}

/** Each with a build that failed for nothing. */
export function flakyPanel({ tenant, flaky, resets }: DelaysAnswer): HTMLElement | false {
  if (flaky.length === 0) return false;
  const all = millisecondsOf(resets.buildTime);
  return element(
    'section',
    { class: 'panel', 'aria-labelledby': 'flaky-title' },
    element(
      'h2',
      { id: 'flaky-title' },
      'Flaky jobs',
      element('span', { class: 'total' }, 'failed, and passed in the same tested state'),
    ),
    table(
      'Flaky jobs',
      ['Job', 'Failed#', 'Items#', 'In vain#', 'Of all#', 'Last'],
      flaky.map(({ job, builds, items, buildTime, build, item }): readonly Child[] => [
        element('a', { 'data-route': true, href: pages.job(tenant, job) }, job),
        builds,
        items,
        durationOf(buildTime),
        all > 0 ? percent(millisecondsOf(buildTime) / all) : '–',
        [
          element('a', { 'data-route': true, href: pages.build(tenant, build) }, 'log'),
          ' ',
          element('a', { 'data-route': true, href: pages.item(tenant, item) }, 'item'),
        ],
      ]),
    ),
  );
}
