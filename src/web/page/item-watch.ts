/** What a reader is informed of: their changes and the items they watch, from the live documents. No browser is needed. */
import type { ItemForecast } from '../../api/forecast.ts';
import type { LiveItem } from '../../api/live-item.ts';
import type { LivePipeline } from '../../api/live-view.ts';
import { rowOfState } from '../../model/item-states.ts';
import { duration, itemTitle } from './format.ts';

/** The events of rules `[notify NAME]`, by the service's name. */
type NoticeEvent = 'landed' | 'failed' | 'reset-twice' | 'head-stuck' | 'eta-slipped';

/** One message. */
export interface PageNotice {
  readonly uuid: string;
  /** The same for what is the same. */
  readonly key: string;
  readonly title: string;
  /** The line that matters. */
  readonly text: string;
}

/** As {@link import('./live.ts').Live} has them. */
export interface ShownQueues {
  items(): readonly LiveItem[];
  forecast(item: Pick<LiveItem, 'pipeline' | 'uuid'>): ItemForecast | undefined;
  /** Of the rules of the installation; undefined: the pipeline is not there. */
  noticeBounds(pipeline: string): LivePipeline['notices'] | undefined;
  /** The server's time, in milliseconds. */
  now(): number;
}

interface Known {
  readonly item: LiveItem;
  /** The likely time of its landing as it was first forecast here; undefined: none was. */
  readonly said: number | undefined;
}

/** Of one tenant. What was so before it looked first is not shown, but for a queue that is stuck. */
export class ItemWatch {
  readonly #known = new Map<string, Known>();

  /** @param concerns of which items. @param gone called with each that has left its queue since the last look. */
  look(
    queues: ShownQueues,
    concerns: (item: LiveItem) => boolean,
    gone: (item: LiveItem) => void,
  ): readonly PageNotice[] {
    const items = new Map(queues.items().map(item => [item.uuid, item]));
    for (const [uuid, { item }] of this.#known) {
      if (items.has(uuid)) continue;
      this.#known.delete(uuid);
      gone(item);
    }
    const notices: PageNotice[] = [];
    for (const item of items.values()) {
      if (!concerns(item)) continue;
      const before = this.#known.get(item.uuid);
      const forecast = queues.forecast(item);
      const likely = forecast?.expected?.what === 'lands' ? forecast.expected.likely : undefined;
      const said = before?.said ?? likely;
      this.#known.set(item.uuid, { item, said });
      notices.push(...resetTwice(item, before?.item));
      const bounds = queues.noticeBounds(item.pipeline);
      if (bounds === undefined) continue;
      const now = queues.now();
      if (forecast?.place === 1) notices.push(...headStuck(item, bounds.stuckAfter, now));
      if (said !== undefined && likely !== undefined && likely - said >= bounds.slippedBy)
        notices.push(etaSlipped(item, said, likely, now));
    }
    return notices;
  }
}

/** What became of an item that has left. Its author did some of it. */
export function departure(item: LiveItem): PageNotice | undefined {
  const { left } = item;
  if (
    left === null ||
    ['abandoned', 'new-patchset', 'cycle-changed', 'superseded', 'overtaken'].includes(left.reason)
  )
    return undefined;
  const took = duration(left.at - item.enqueuedAt);
  if (left.result === 'SUCCESS')
    return notice(item, 'landed', '', `Passed ${item.pipeline}`, `after ${took}`);
  const failed = item.jobs.filter(
    ({ voting, result }) => voting && result !== null && result !== 'SUCCESS' && result !== 'SKIPPED',
  );
  const why =
    left.reason !== 'reported'
      ? left.text
      : failed.length > 0
        ? failed.map(({ name, result }) => `${name} ${result}`).join(', ')
        : left.result;
  return notice(item, 'failed', '', `Failed in ${item.pipeline}`, why);
}

function resetTwice(item: LiveItem, before: LiveItem | undefined): readonly PageNotice[] {
  const last = item.resets.at(-1);
  if (before === undefined || last === undefined || item.resets.length < 2 || before.resets.length >= 2)
    return [];
  return [notice(item, 'reset-twice', '', `Tested again for the second time in ${item.pipeline}`, last.text)];
}

function headStuck(item: LiveItem, stuckAfter: number, now: number): readonly PageNotice[] {
  const title = `Holds up ${item.pipeline}`;
  const { name, since, subject } = item.state;
  if (name !== 'running')
    return now - since < stuckAfter
      ? []
      : [
          notice(
            item,
            'head-stuck',
            name,
            title,
            `${rowOfState(name).now(subject)}, for ${duration(now - since)} now`,
          ),
        ];
  return item.jobs.flatMap(job => {
    const ran = job.state === 'started' && job.startedAt !== null ? now - job.startedAt : 0;
    if (ran < stuckAfter + (job.expectedMs ?? 0)) return [];
    const usual = job.expectedMs === null ? '' : `, usually ${duration(job.expectedMs)}`;
    return [
      notice(item, 'head-stuck', job.name, title, `job ${job.name} has run for ${duration(ran)}${usual}`),
    ];
  });
}

function etaSlipped(item: LiveItem, said: number, likely: number, now: number): PageNotice {
  const text = `${duration(likely - said)} later than first forecast`;
  return notice(item, 'eta-slipped', '', `Expected in ${duration(likely - now)}, ${item.pipeline}`, text);
}

function notice(item: LiveItem, event: NoticeEvent, cause: string, title: string, text: string): PageNotice {
  const [change] = item.changes;
  const name = item.changes.length > 1 ? itemTitle(item) : (change?.text ?? itemTitle(item));
  return { uuid: item.uuid, key: [item.uuid, event, cause].join(' '), title: `${title}: ${name}`, text };
}
