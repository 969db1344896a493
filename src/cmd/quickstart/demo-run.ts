/** The demo: six changes proposed, checked, approved in order, and gated, with progress on the screen. */

import type { LiveItem } from '../../api/live-item.ts';
import { type Api, ApiError } from '../client/api.ts';
import { type FollowedTenant, followTenant } from '../client/follow.ts';
import type { Screen } from '../terminal/screen.ts';
import { DEMO_CHANGES } from './demo-changes.ts';
import { API, APP, TENANT } from './demo-files.ts';
import type { DemoHost, DemoProposal, DemoProposals } from './demo-host.ts';
import { type ProgressRow, progressFrame, progressLines } from './progress.ts';
import { isAbout } from './shown-item.ts';

/** Milliseconds until an unfinished demo fails. */
const DEMO_LIMIT = 120_000;

const SHORT: { readonly [project: string]: string } = { [APP]: 'app', [API]: 'api' };

/** @throws Error when the demo does not finish in time. */
export async function runDemo(host: DemoHost, api: Api, screen: Screen): Promise<DemoProposals> {
  const limit = AbortSignal.timeout(DEMO_LIMIT);
  const watching = new AbortController();
  const proposals = new Map<string, DemoProposal>();
  const watcher = new GateWatcher(screen, proposals);
  const followed = watcher.follow(api, AbortSignal.any([limit, watching.signal]));
  for (const change of DEMO_CHANGES) proposals.set(change.topic, await host.propose(change));
  screen.line(
    `proposed ${proposals.size} changes ${host.words.proposed}; pipeline check tests each on its own`,
  );
  await watcher.until('check', proposals.size, limit);
  // One after the other, as people would: the order of simultaneous approvals is not deterministic.
  for (const change of DEMO_CHANGES) {
    await host.approve(change);
    await watcher.untilEntered('gate', change.project, nameIn(proposals, change.topic), limit);
  }
  screen.line(
    `approved all in order ${host.words.approved}; pipeline gate tests each on top of the ones ahead, and merges what passes`,
  );
  await watcher.until('gate', proposals.size, limit);
  watching.abort();
  await followed;
  screen.keep();
  return proposals;
}

/** The host's name of a proposed change; empty: it is not proposed yet. */
function nameIn(proposals: DemoProposals, topic: string): string {
  return proposals.get(topic)?.change ?? '';
}

/** Records which items left which pipeline, and draws the gate. */
class GateWatcher {
  readonly #screen: Screen;
  readonly #proposals: DemoProposals;
  readonly #left = new Map<string, Set<string>>();
  readonly #results = new Map<string, string>();
  readonly #waiting: { readonly met: () => boolean; readonly done: () => void }[] = [];
  #view: FollowedTenant | undefined;
  #failure: unknown;

  constructor(screen: Screen, proposals: DemoProposals) {
    this.#screen = screen;
    this.#proposals = proposals;
  }

  async follow(api: Api, signal: AbortSignal): Promise<void> {
    const redraw = setInterval(() => this.#draw(), 200);
    try {
      while (!signal.aborted) {
        try {
          for await (const view of followTenant(api, TENANT, signal)) await this.#see(view, api);
        } catch (error) {
          // The service restarts: missed items are in its history.
          if (!(error instanceof ApiError || error instanceof TypeError)) throw error;
          await new Promise(resolve => setTimeout(resolve, 100));
        }
      }
    } catch (error) {
      this.#failure = error;
      for (const waiter of this.#waiting) waiter.done();
    } finally {
      clearInterval(redraw);
      this.#draw();
    }
  }

  /** Resolves when `count` items have left the pipeline. */
  until(pipeline: string, count: number, signal: AbortSignal): Promise<void> {
    return this.#await(
      () => (this.#left.get(pipeline)?.size ?? 0) >= count,
      `${count} items to leave ${pipeline}`,
      signal,
    );
  }

  /** Resolves when the change is in the pipeline, or was. */
  untilEntered(pipeline: string, project: string, change: string, signal: AbortSignal): Promise<void> {
    const isIt = (item: LiveItem) => item.pipeline === pipeline && isAbout(item, project, change);
    return this.#await(
      () => this.#results.has(`${project} ${change}`) || [...(this.#view?.items.values() ?? [])].some(isIt),
      `${change} to enter ${pipeline}`,
      signal,
    );
  }

  async #await(met: () => boolean, what: string, signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      signal.addEventListener(
        'abort',
        () =>
          reject(new Error(`the demo did not finish within ${DEMO_LIMIT / 1000} s (waiting for ${what})`)),
        { once: true },
      );
      this.#waiting.push({ met, done: resolve });
      this.#settle();
    });
    if (this.#failure !== undefined) throw this.#failure;
  }

  async #see(view: FollowedTenant, api: Api): Promise<void> {
    const before = this.#view;
    this.#view = view;
    const gone = [...(before?.items.keys() ?? [])].filter(uuid => !view.items.has(uuid));
    if (before === undefined || gone.length > 0) await this.#readLeft(api, gone);
    if (this.#screen.live) this.#draw();
    else for (const line of progressLines(before, view, 'gate')) this.#screen.line(line);
    this.#settle();
  }

  /** Reads finished items until the history, which lags behind the live view, holds all of `gone`. */
  async #readLeft(api: Api, gone: readonly string[]): Promise<void> {
    for (let tries = 0; tries < 100; tries++) {
      await this.#readFinished(api);
      const known = new Set([...this.#left.values()].flatMap(left => [...left]));
      if (gone.every(uuid => known.has(uuid))) return;
      await new Promise(resolve => setTimeout(resolve, 50));
    }
  }

  async #readFinished(api: Api): Promise<void> {
    const finished = await api.get<
      readonly {
        readonly uuid: string;
        readonly pipeline: string;
        readonly result: string | null;
        readonly changes: readonly { readonly project: string; readonly name: string }[];
      }[]
    >(`/api/tenant/${TENANT}/items?limit=100`);
    for (const item of finished) {
      const left = this.#left.get(item.pipeline) ?? new Set();
      left.add(item.uuid);
      this.#left.set(item.pipeline, left);
      if (item.pipeline !== 'gate') continue;
      for (const { project, name } of item.changes)
        this.#results.set(`${project} ${name}`, item.result ?? '');
    }
  }

  #settle(): void {
    for (const waiter of this.#waiting) if (waiter.met()) waiter.done();
  }

  #draw(): void {
    const view = this.#view;
    if (view === undefined || !this.#screen.live) return;
    this.#screen.frame([
      '',
      ...progressFrame(
        DEMO_CHANGES.map(change => this.#row(change, view)),
        { width: this.#screen.width, colour: this.#screen.colour, now: Date.now() },
      ),
    ]);
  }

  #row(change: (typeof DEMO_CHANGES)[number], view: FollowedTenant): ProgressRow {
    const id = nameIn(this.#proposals, change.topic);
    const item = [...view.items.values()].find(
      each => each.pipeline === 'gate' && isAbout(each, change.project, id),
    );
    return {
      name: `${SHORT[change.project] ?? change.project} ${change.topic}`,
      item,
      result: item === undefined ? this.#results.get(`${change.project} ${id}`) : undefined,
    };
  }
}
