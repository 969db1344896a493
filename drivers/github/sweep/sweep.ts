/**
 * The listener of a GitHub connection: finds what webhooks did not deliver.
 *
 *     at the start     every repository is read as a whole, once: what happened while no process watched; and again when more has
 *                      changed in it than a listing shows
 *     each pass        deliveries.ts      failed deliveries are asked for again
 *                      listing.ts         what was updated last, in batches; differences.ts compares it with memory and last pass
 *                      branches.ts        so it does with branches
 *                      stray-runs.ts      check runs of items that are gone are ended
 *
 * Passes are a minute apart while deliveries fail or none arrives, else `sweep_interval` (pace.ts). A repository that GitHub does not
 * serve is left to the next pass; others do not wait for it.
 *
 * What a sweep finds becomes an event like a webhook's, with `sweep` as its name: processing reads the host and decides.
 */
import type { DriverLog } from '../../../src/driver/connection.ts';
import type { Listener, NewConnectionEvent, Watch } from '../../../src/driver/intake.ts';
import { type Clock, type Nanoseconds, toMilliseconds } from '../../../src/lib/clock.ts';
import { sha256 } from '../../../src/lib/ids.ts';
import { projectIdOf } from '../../../src/model/project.ts';
import type { Step } from '../../../src/model/step.ts';
import type { GithubApi, GithubCall } from '../api/port.ts';
import { type Notification, type NotificationAbout, notificationJson } from '../intake/notification.ts';
import { decodePullMemory, pullMemoryKey } from '../reading/pull-memory.ts';
import type { RepositoryNamed } from '../repository-names.ts';
import { type BranchLister, type BranchSweep, type BranchWatch, createBranchSweep } from './branches.ts';
import { type RepeatCounts, repeatFailedDeliveries } from './deliveries.ts';
import { pullDifference, type Seen, seenOf, suspects } from './differences.ts';
import { listRepositories } from './listing.ts';
import { type ListedRepository, REPOSITORIES_AT_ONCE } from './listing-query.ts';
import { nextPause, type PassOutcome } from './pace.ts';
import { endRun, openRuns, strayRuns } from './stray-runs.ts';

/** Type of the events that a sweep makes. */
export const SWEEP_EVENT = 'sweep';

/** Of one connection; tests replace waiting. */
export interface SweepDeps {
  readonly api: GithubApi;
  readonly clock: Clock;
  readonly log: DriverLog;
  /** Milliseconds between passes while webhooks arrive. */
  readonly interval: number;
  /** When the last webhook came in whose event was processed; null: none did. */
  readonly lastDeliveryAt: () => Nanoseconds | null;
  /** Ends early, without an error, when the signal aborts. */
  readonly wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** Deliveries that this process asked for again. */
  readonly repeats: RepeatCounts;
  /** Gets the number of check runs that a pass ended. */
  readonly closed: (runs: number) => void;
  readonly named: RepositoryNamed;
  /** All branches of a repository that has more than a listing holds. */
  readonly listBranches: BranchLister;
}

/** What this process knows from pass to pass. */
interface SweepState {
  /** By repository. */
  readonly seen: Map<string, Seen>;
  readonly branches: BranchSweep;
  /** Repositories of one query. */
  atOnce: number;
  /** Ids of runs that the pass before found stray. */
  stray: ReadonlySet<number>;
}

/** A webhook may be on its way: what was updated less than this long ago is left to the next pass. Milliseconds. */
function onItsWay(interval: number): number {
  return Math.min(10_000, interval / 2);
}

/** `listen` ends with its signal. */
export function createGithubSweep(deps: SweepDeps): Listener {
  return {
    async listen(watch) {
      const { signal } = watch;
      const branches = createBranchSweep(deps.listBranches);
      const seen = new Map<string, Seen>();
      const state: SweepState = { seen, branches, stray: new Set<number>(), atOnce: REPOSITORIES_AT_ONCE };
      while (!signal.aborted) {
        let outcome: PassOutcome = { isFailing: true, missed: 0 };
        try {
          outcome = await passOver(state, watch, deps);
        } catch (error) {
          if (signal.aborted) return;
          deps.log.warn({ error: String(error) }, 'a sweep over GitHub ended early; the next one goes on');
        }
        await deps.wait(nextPause(outcome, deps.lastDeliveryAt(), deps.clock.now(), deps.interval), signal);
      }
    },
  };
}

async function passOver(state: SweepState, watch: Watch, deps: SweepDeps): Promise<PassOutcome> {
  const startedAt = deps.clock.now();
  const steps: Step[] = [];
  const repositories = [...watch.projects()].map(project => projectIdOf(project).name);
  const [first] = repositories;
  if (first === undefined) return { isFailing: false, missed: 0 };
  const call: Omit<GithubCall, 'repository'> = {
    weight: 'event',
    signal: watch.signal,
    steps: step => void steps.push(step),
  };
  const redelivered = await repeatFailedDeliveries(deps.api, { ...call, repository: first }, deps.repeats);
  const identity = await deps.api.identity({ ...call, repository: first });
  const app = identity.kind === 'ok' ? (identity.data.app?.id ?? null) : null;
  const query = { api: deps.api, call, app };
  const { byName: listings, nextAtOnce } = await listRepositories(repositories, state.atOnce, query);
  state.atOnce = nextAtOnce;
  let missed = 0;
  let closed = 0;
  let changes = 0;
  const stray = new Set<number>();
  const branchWatch = branchWatchOf(watch);
  for (const [repository, listed] of listings) {
    if (listed === undefined) continue;
    deps.named(repository, listed.nameWithOwner);
    if (listed.nameWithOwner.toLowerCase() !== repository.toLowerCase()) continue;
    changes += listed.pullRequests.nodes?.length ?? 0;
    missed += await compare(repository, listed, state, watch, deps);
    await state.branches.compare(repository, listed, branchWatch);
    for (const run of await strayRuns(openRuns(listed), watch.isLive)) {
      if (!state.stray.has(run.id)) stray.add(run.id);
      else if (await endRun(run, deps.api, { ...call, weight: 'final', repository })) closed += 1;
    }
  }
  await state.branches.listOthers(branchWatch);
  state.stray = stray;
  deps.closed(closed);
  const projects = [...listings.values()].filter(listed => listed !== undefined).length;
  const counts = { projects, changes, missed, redelivered: redelivered.repeated, closed };
  await watch.passed({ startedAt, endedAt: deps.clock.now(), ...counts, steps });
  if (missed + redelivered.repeated + closed > 0)
    deps.log.info(counts, 'a sweep found what GitHub did not deliver');
  return { isFailing: redelivered.isFailing, missed };
}

/** @returns events that were missed. */
async function compare(
  repository: string,
  listed: ListedRepository,
  state: SweepState,
  watch: Watch,
  deps: SweepDeps,
): Promise<number> {
  const settled = settledPart(listed, toMilliseconds(deps.clock.now()) - onItsWay(deps.interval));
  const before = state.seen.get(repository);
  const now = seenOf(settled);
  const { isWhole, pulls } = suspects(settled, before);
  let missed = 0;
  if (isWhole) await watch.emit(found(repository, { kind: 'repository' }, String(deps.clock.now())));
  for (const pull of pulls) {
    const remembered = decodePullMemory(await watch.memory.get(pullMemoryKey(repository, pull.number)));
    const difference = pullDifference(pull, remembered, before);
    if (difference === undefined) continue;
    const { number, isNew, isMissed } = difference;
    if (isMissed) missed += 1;
    await watch.emit(
      found(repository, { kind: 'pull', number, ...(isNew ? { isNew } : {}) }, now.pulls.get(number) ?? ''),
    );
  }
  state.seen.set(repository, merged(before, now));
  return missed;
}

function branchWatchOf({ memory, signal, emit }: Watch): BranchWatch {
  return {
    ...{ memory, signal },
    found(repository, { branch, before, after }) {
      const about = { kind: 'ref', ref: `refs/heads/${branch}`, before, after } as const;
      return emit(found(repository, about, after ?? 'deleted'));
    },
  };
}

/** Without what was updated just now. */
function settledPart(listed: ListedRepository, before: number): ListedRepository {
  const nodes = (listed.pullRequests.nodes ?? []).filter(
    pull => pull !== null && Date.parse(pull.updatedAt) <= before,
  );
  return { ...listed, pullRequests: { nodes } };
}

/** A listing holds what was updated last: what it does not hold is as it was. */
function merged(before: Seen | undefined, now: Seen): Seen {
  return {
    pulls: new Map([...(before?.pulls ?? []), ...now.pulls].slice(-MOST_SEEN)),
    newest: Math.max(before?.newest ?? 0, now.newest),
  };
}

/** Pull requests of one repository that are kept from pass to pass. */
const MOST_SEEN = 1_000;

/** @param state by which the same finding of the next pass has the same id, and is processed once. */
function found(repository: string, about: NotificationAbout, state: string): NewConnectionEvent {
  const notification: Notification = {
    event: SWEEP_EVENT,
    action: '',
    repository,
    installation: null,
    actor: 'ghost',
    at: null,
    about,
  };
  const id = sha256(JSON.stringify([repository, about, state])).slice(0, 32);
  const payload = notificationJson(notification);
  return { deliveryId: `sweep-${id}`, type: SWEEP_EVENT, foundBy: 'sweep', payload };
}
