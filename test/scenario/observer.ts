/** Looks at a running service as its users do (live feed, history, collector) and waits for what a story expects. */

import type { FinishedItem, LiveItem } from '../../src/api/live-item.ts';
import type { Api } from '../../src/cmd/client/api.ts';
import { type FollowedTenant, followTenant } from '../../src/cmd/client/follow.ts';
import type { OtlpSink } from '../fake/otlp-sink.ts';
import { TENANT } from './site.ts';
import type { Stage, StagedBuild } from './stage.ts';

export interface Observer extends AsyncDisposable {
  /** Live items, by uuid. */
  items(): readonly LiveItem[];
  view(): FollowedTenant | undefined;
  /** Announced builds that run according to the service, without those that the story has ended. */
  running(): readonly StagedBuild[];
  /** The story ends a build: it no longer counts as running. */
  ending(uuid: string): void;
  /**
   * Waits until `look` gives something else than undefined or false.
   *
   * @throws Error after the deadline, with what there is instead.
   */
  until<T>(what: string, look: () => T | undefined | false | Promise<T | undefined | false>): Promise<T>;
  /** Resolves when nothing moves any more without the test: all events processed, all items waiting or running held jobs. */
  settle(): Promise<void>;
  /** Waits until the event with this delivery id has reached the pipelines, or was found to change nothing. */
  eventProcessed(delivery: string): Promise<void>;
  finished(): Promise<readonly FinishedItem[]>;
  /** The newest item that matches, when it has left and the history has it; undefined: not yet. */
  left(matches: (item: Pick<LiveItem, 'pipeline' | 'changes'>) => boolean): Promise<FinishedItem | undefined>;
}

/** Milliseconds until a story gives up; loaded machines are slow. */
export const DEADLINE = Number(process.env.GATEHOUSE_STORY_DEADLINE ?? 60_000);
/** Milliseconds after which a condition without an event of its own (history, refs) is looked at again. */
const LOOK_AGAIN = 25;
/** Item states in which nothing happens unless the test or another item does something. */
const RESTING = new Set([
  'window',
  'hold-following',
  'running',
  'change-ahead',
  'needed-change',
  'host',
  'semaphore',
  'requirement',
  'dependency',
]);

export interface ObserverDeps {
  readonly api: Api;
  readonly stage: Stage;
  readonly sink: OtlpSink;
  /** False: the collector cannot be asked, or tracing is off. */
  readonly traced: () => boolean;
  /** For the message of a condition that was never met. */
  readonly describe: () => string;
}

export function observe(deps: ObserverDeps): Observer {
  const { api, stage, sink } = deps;
  const stop = new AbortController();
  const ended = new Set<string>();
  const wakers = new Set<() => void>();
  const wake = () => {
    for (const waker of [...wakers]) waker();
  };
  /** Every live item that was ever seen, oldest first: the history has one a moment after the queues have it no more. */
  const seen = new Map<string, LiveItem>();
  let view: FollowedTenant | undefined;
  let lost: unknown;
  const following = follow().catch(error => {
    lost = error;
    wake();
  });
  stage.onCall(wake);

  async function follow(): Promise<void> {
    for await (const next of followTenant(api, TENANT, stop.signal)) {
      view = next;
      for (const [uuid, item] of next.items) if (item.role === 'live') seen.set(uuid, item);
      wake();
    }
  }

  const items = () => [...(view?.items.values() ?? [])];
  const openBuilds = () =>
    new Set<string | null>(
      items().flatMap(item =>
        item.jobs.filter(job => job.state === 'started' && job.result !== 'PAUSED').map(job => job.build),
      ),
    );
  const finished = () => api.get<readonly FinishedItem[]>(`/api/tenant/${TENANT}/items?limit=100`);

  function running(): readonly StagedBuild[] {
    const open = openBuilds();
    return stage.builds.filter(build => open.has(build.uuid) && !ended.has(build.uuid));
  }

  async function until<T>(
    what: string,
    look: () => T | undefined | false | Promise<T | undefined | false>,
  ): Promise<T> {
    const deadline = performance.now() + DEADLINE;
    for (;;) {
      const woken = nextWake();
      const found = await look();
      if (found !== undefined && found !== false) return found;
      if (lost !== undefined) throw new Error('the live feed broke', { cause: lost });
      if (performance.now() > deadline)
        throw new Error(`waited in vain for ${what}; there is:\n${deps.describe()}`);
      await woken;
    }
  }

  function nextWake(): Promise<void> {
    return new Promise(resolve => {
      const done = () => {
        clearTimeout(timer);
        wakers.delete(done);
        resolve();
      };
      const timer = setTimeout(done, LOOK_AGAIN);
      wakers.add(done);
    });
  }

  function isProcessed(delivery: string): boolean {
    if (!deps.traced()) return true;
    const roots = sink.spans.filter(span => span.parentSpanId === null);
    const followed = new Set(roots.map(span => span.attributes['gatehouse.link.follows']));
    const arrived = roots.some(
      ({ attributes }) =>
        attributes['gatehouse.delivery.id'] === delivery ||
        [attributes['gatehouse.delivery.answered']].flat().includes(delivery),
    );
    // An earlier event may have brought the change already: then that one must have reached the tenant.
    // What a timer or the connection zuul makes goes to its pipeline directly.
    const forwarded = roots.filter(
      ({ attributes }) =>
        attributes['gatehouse.event.outcome'] === 'forwarded' &&
        attributes['gatehouse.event.found_by'] !== 'timer' &&
        attributes['gatehouse.event.found_by'] !== 'zuul',
    );
    return arrived && forwarded.every(span => followed.has(span.traceId));
  }

  async function isQuiet(): Promise<boolean> {
    if (view === undefined) return false;
    const started = openBuilds();
    const announced = new Set<string>(stage.builds.map(build => build.uuid));
    const allAnnounced = [...started].every(uuid => uuid !== null && announced.has(uuid) && !ended.has(uuid));
    const requested = items().some(item => item.jobs.some(job => job.state === 'requested'));
    if (!allAnnounced || requested || !items().every(item => RESTING.has(item.state.name))) return false;
    const status = await api.get<{ readonly pipelines: readonly { readonly trigger_events: number }[] }>(
      `/api/tenant/${TENANT}/status`,
    );
    return status.pipelines.every(pipeline => pipeline.trigger_events === 0);
  }

  return {
    items,
    view: () => view,
    running,
    ending: uuid => void ended.add(uuid),
    until,
    async settle() {
      let quiet = 0;
      // Twice, because the live copy trails the store by a moment.
      await until('nothing to move any more', async () => {
        quiet = (await isQuiet()) ? quiet + 1 : 0;
        return quiet >= 3;
      });
    },
    async eventProcessed(delivery) {
      await until(`event ${delivery} to be processed`, () => isProcessed(delivery));
    },
    finished,
    async left(matches) {
      if (items().some(matches)) return undefined;
      const newest = [...seen.values()].findLast(matches)?.uuid;
      const found = (await finished()).filter(matches);
      return newest === undefined || found.some(({ uuid }) => uuid === newest) ? found[0] : undefined;
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await following;
    },
  };
}
