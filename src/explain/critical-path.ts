/**
 * What delayed an item, step by step: the longest chain of waits and work from enqueue to now.
 *
 * Waits and single pieces of work are the item's own states. While several jobs run, the chain follows the one that ended last, back
 * to what it waited for: its executor, its hosts, its semaphores, what it requires, its earlier attempt, the job it depends on.
 *
 *     12.1s  waited for a place in the window
 *     40ms   merge
 *     0.9s   lint waited for an executor          ┐ buildset 1, discarded by a reset
 *     38s    unit-tests ran                       ┘
 */
import type { Nanoseconds } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';
import { between, earliest, isBefore, latest } from '../lib/time-window.ts';
import { type Build, endOfBuild, startOfBuild, unnoticedLoss } from '../model/build.ts';
import { type BuildSet, graphOf } from '../model/build-set.ts';
import { ITEM_STATES, type StretchState } from '../model/item-states.ts';
import { labelsText } from '../model/node-wait.ts';
import { buildsetsOf, type QueueItem } from '../model/queue-item.ts';
import { type RequirementWait, requirementWaitText } from '../model/requirement.ts';
import { type SemaphoreWait, semaphoreWaitText } from '../model/semaphore.ts';
import type { Stretch } from './stretches.ts';

/** One step of the path. Each begins where the one before ended; together they last as long as the item. */
export interface PathLink {
  readonly from: Nanoseconds;
  readonly to: Nanoseconds;
  readonly duration: Nanoseconds;
  readonly kind: 'wait' | 'work';
  /** Of the item; `executor`, `nodes` and `running` are those of `build`. */
  readonly state: StretchState;
  /** A clause: `waited for a place in the window`, `unit-tests ran (attempt 2)`. */
  readonly text: string;
  /** Number of the buildset it belongs to. */
  readonly buildset: number;
  /** A reset discarded this: it had to be repeated. */
  readonly repeated: boolean;
  readonly build?: Uuid;
}

/** @param stretches the item's states from enqueue to now, without gap. */
export function criticalPath(item: QueueItem, stretches: readonly Stretch[]): readonly PathLink[] {
  return stretchesPerBuildSet(item, stretches).flatMap(piece =>
    piece.state === 'running'
      ? chainOfBuilds(piece)
      : [linkOf(piece, piece, ITEM_STATES[piece.state].past(piece.subject))],
  );
}

interface Piece {
  readonly state: StretchState;
  readonly kind: 'wait' | 'work';
  readonly subject?: string | undefined;
  readonly from: Nanoseconds;
  readonly to: Nanoseconds;
  readonly buildset: BuildSet;
  /** A reset ended it, or replaced it after it was complete. */
  readonly replaced: boolean;
}

/** Cut where a reset made a new buildset. Waiting for executors or hosts and running are one piece, since the chain distinguishes them. */
function stretchesPerBuildSet(item: QueueItem, stretches: readonly Stretch[]): readonly Piece[] {
  const pieces: Piece[] = [];
  const all = buildsetsOf(item);
  for (const stretch of stretches) {
    const state = ['executor', 'nodes'].includes(stretch.state) ? 'running' : stretch.state;
    all.forEach((buildset, index) => {
      const from = index === 0 ? stretch.from : latest(stretch.from, buildset.createdAt);
      const to = earliest(stretch.to, all[index + 1]?.createdAt ?? stretch.to);
      if (!isBefore(from, to)) return;
      const last = pieces.at(-1);
      if (state === 'running' && last?.state === 'running' && last.buildset === buildset) {
        pieces[pieces.length - 1] = { ...last, to };
      } else {
        const replaced = index < all.length - 1 || buildset.stage.state === 'superseded';
        pieces.push({ state, kind: stretch.kind, subject: stretch.subject, from, to, buildset, replaced });
      }
    });
  }
  return pieces;
}

/** Backwards from the end of the piece: the build that ended last, its wait, and the cause of its start. */
function chainOfBuilds(piece: Piece): readonly PathLink[] {
  const { buildset } = piece;
  const links: PathLink[] = [];
  let to = piece.to;
  const add = (from: Nanoseconds, state: StretchState, text: string, build?: Build) => {
    const start = latest(from, piece.from);
    if (isBefore(start, to)) {
      const kind = state === 'running' ? 'work' : 'wait';
      links.unshift(linkOf(piece, { from: start, to, kind, state }, text, build));
      to = start;
    }
  };
  let build = lastToEnd(buildset.builds, piece);
  while (build !== undefined && isBefore(piece.from, to)) {
    const loss = unnoticedLoss(build);
    add(latest(loss?.end ?? endIn(build, to), endIn(build, to)), 'scheduler', past('scheduler'));
    add(endIn(build, to), 'executor-lost', `${build.job} ${past('executor-lost')}${tryText(build)}`);
    add(startOfBuild(build) ?? to, 'running', `${build.job} ran${tryText(build)}`, build);
    for (const { from, state, text } of waitsOf(build).toReversed())
      add(from, state, `${build.job} ${text}${tryText(build)}`, build);
    const wait = semaphoreWaitOf(buildset, build);
    if (wait !== undefined)
      add(wait.since, 'semaphore', `${build.job} ${ITEM_STATES.semaphore.past(semaphoreWaitText(wait))}`);
    const lack = requirementWaitOf(buildset, wait?.since ?? build.requestedAt, build.job);
    if (lack !== undefined)
      add(
        lack.since,
        'requirement',
        `${build.job} ${ITEM_STATES.requirement.past(requirementWaitText(lack))}`,
      );
    build = predecessor(buildset, build);
  }
  add(piece.from, 'scheduler', past('scheduler'));
  return links;
}

interface BuildWait {
  readonly from: Nanoseconds;
  readonly state: 'executor' | 'nodes';
  readonly text: string;
}

/** From its request until it was taken, in order: each ends where the next begins. */
function waitsOf({ requestedAt, nodes }: Build): readonly BuildWait[] {
  const executor = { state: 'executor', text: past('executor') } as const;
  if (nodes === undefined) return [{ from: requestedAt, ...executor }];
  const text = ITEM_STATES.nodes.past(labelsText(nodes.labels));
  return nodes.waits.flatMap(({ since, granted }): readonly BuildWait[] => [
    { from: since, state: 'nodes', text },
    ...(granted === null ? [] : [{ from: granted.at, ...executor }]),
  ]);
}

/** The wait that ended when the build was requested. */
function semaphoreWaitOf(
  { semaphoreWaits }: BuildSet,
  { job, requestedAt }: Build,
): SemaphoreWait | undefined {
  return semaphoreWaits?.find(
    ({ job: waiting, ended }) => waiting === job && ended?.outcome === 'taken' && ended.at === requestedAt,
  );
}

/** The wait after which nothing but semaphores was lacking. */
function requirementWaitOf(
  { requirementWaits }: BuildSet,
  at: Build['requestedAt'],
  job: string,
): RequirementWait | undefined {
  return requirementWaits?.find(wait => wait.job === job && wait.ended?.at === at);
}

function lastToEnd(builds: readonly Build[], piece: Piece): Build | undefined {
  return lastOf(
    builds.filter(build => isBefore(build.requestedAt, piece.to)),
    piece.to,
  );
}

/** Of builds that ended in one turn the one requested first, then by id: spans, which have no order, give the same result. */
function lastOf(builds: readonly Build[], limit: Nanoseconds): Build | undefined {
  const [last] = builds
    .filter(build => build.state.state !== 'skipped')
    .sort((a, b) => {
      const [endOfA, endOfB] = [endIn(a, limit), endIn(b, limit)];
      if (endOfA !== endOfB) return isBefore(endOfA, endOfB) ? 1 : -1;
      if (a.requestedAt !== b.requestedAt) return isBefore(a.requestedAt, b.requestedAt) ? -1 : 1;
      return a.uuid < b.uuid ? -1 : 1;
    });
  return last;
}

/** Its end, at most `limit`. */
function endIn(build: Build, limit: Nanoseconds): Nanoseconds {
  return earliest(endOfBuild(build) ?? limit, limit);
}

/** The attempt before, or the job it depends on that ended last. */
function predecessor(buildset: BuildSet, build: Build): Build | undefined {
  if (build.attempt > 1) {
    return buildset.builds.find(other => other.job === build.job && other.attempt === build.attempt - 1);
  }
  const node = graphOf(buildset)?.jobs.find(job => job.name === build.job);
  const parents = new Set(node?.dependencies.map(dependency => dependency.name));
  return lastOf(
    buildset.builds.filter(other => parents.has(other.job)),
    build.requestedAt,
  );
}

function past(state: StretchState): string {
  return ITEM_STATES[state].past();
}

function tryText(build: Build): string {
  return build.attempt === 1 ? '' : ` (attempt ${build.attempt})`;
}

function linkOf(
  piece: Piece,
  part: Pick<PathLink, 'from' | 'to' | 'kind' | 'state'>,
  text: string,
  build?: Build,
): PathLink {
  return {
    from: part.from,
    to: part.to,
    duration: between(part.from, part.to),
    kind: part.kind,
    state: part.state,
    text,
    buildset: piece.buildset.number,
    repeated: piece.replaced && ITEM_STATES[piece.state].repeated,
    ...(build === undefined ? {} : { build: build.uuid }),
  };
}
