/** The figures at the top of a pipeline's delays; those that count items lead to them. */
import type { DelaysAnswer } from '../../api/delays.ts';
import { pages } from './address.ts';
import { element } from './dom.ts';
import { count, durationOf, percent, resultKind } from './format.ts';

/** Of the period; what is in the queue is there now. */
export function tiles(delays: DelaysAnswer): HTMLElement {
  const { tenant, pipeline, left, queued, results, succeededPerHour, took, resets, queues } = delays;
  const finished = (kind: string) => {
    const wanted = results.filter(({ result }) => resultKind(result) === kind);
    const query = new URLSearchParams([
      ['pipeline', pipeline],
      ...wanted.map(({ result }) => ['result', result]),
    ]);
    return {
      number: wanted.reduce((sum, { items }) => sum + items, 0),
      address: wanted.length === 0 ? undefined : `${pages.list(tenant, 'buildsets')}?${query}`,
    };
  };
  const [passed, failed] = [finished('good'), finished('bad')];
  const windows = queues.filter(({ window }) => window > 0).map(({ window }) => window);
  return element(
    'dl',
    { class: 'tiles' },
    tile('succeeded', passed.number, `${succeededPerHour} per hour`, passed.address),
    tile('failed', failed.number, `of ${left} finished`, failed.address),
    tile(
      'in the queue',
      queued,
      windows.length === 0 ? null : `window ${windows.join(', ')}`,
      pages.tenant(tenant),
    ),
    took !== null && tile('median duration', durationOf(took.p50), `95 %: ${durationOf(took.p95)}`),
    tile('tested again', resets.count, `${count(resets.items, 'item')}`),
    tile('build time lost', durationOf(resets.lostBuildTime), `${percent(resets.lostShare)} of all`),
  );
}

/** @param address of what is counted. */
function tile(word: string, value: string | number, more: string | null, address?: string): HTMLElement {
  const number = element('b', {}, value);
  return element(
    'div',
    {},
    element('dt', {}, word),
    element(
      'dd',
      {},
      address === undefined ? number : element('a', { 'data-route': true, href: address }, number),
      more !== null && element('small', {}, more),
    ),
  );
}
