/** The deaths of schedulers and executors that items report, compared with the strikes and with the server's log. */
import type { Uuid } from '../../../src/lib/ids.ts';
import { endOfBuild } from '../../../src/model/build.ts';
import { buildsetsOf, type QueueItem } from '../../../src/model/queue-item.ts';
import type { Struck } from './strike.ts';
import type { Takeover } from './term-watch.ts';
import type { LoggedTransaction } from './transaction-log.ts';

/** Of two processes' clocks on one machine, in nanoseconds. */
const CLOCKS = 5_000_000n;

export interface SchedulerLost {
  readonly struck: Struck;
  readonly takeover: Takeover;
}

/** One sentence per item of the gate that was there before and after and does not report the takeover. */
export function missingTakeovers(
  items: readonly QueueItem[],
  { struck, takeover }: SchedulerLost,
): readonly string[] {
  const died = nanoseconds(struck.at);
  const over = nanoseconds(struck.at + takeover.committedMs);
  return items
    .filter(({ pipeline }) => pipeline === 'gate')
    .filter(({ enqueuedAt, phase }) => {
      const left = phase.phase === 'left' ? BigInt(phase.at) : over + CLOCKS + 1n;
      return BigInt(enqueuedAt) < died - CLOCKS && left > over + CLOCKS;
    })
    .flatMap(({ uuid, takeovers = [] }) => {
      const isReported = takeovers.some(
        ({ since, at }) => BigInt(since) <= died + CLOCKS && BigInt(at) >= died,
      );
      return isReported ? [] : [`${uuid} does not report that ${struck.victim.name} died at ${struck.at}`];
    });
}

/** Takeovers that name the process as the one that was lost. */
export function reportsOf(items: readonly QueueItem[], { struck }: SchedulerLost): number {
  const marks = items.flatMap(({ takeovers = [] }) => takeovers);
  return marks.filter(({ from, how }) => how === 'lost' && from.endsWith(`/${struck.pid}`)).length;
}

/** One sentence per lost build that ran on after its executor was struck, by its record. */
export function builtByTheDead(
  items: readonly QueueItem[],
  transactions: readonly LoggedTransaction[],
  strikes: readonly Struck[],
): readonly string[] {
  return items.flatMap(buildsetsOf).flatMap(({ builds }) =>
    builds.flatMap(build => {
      const { state } = build;
      if (state.state !== 'completed' || state.execution !== null || state.startedAt === null) return [];
      const session = claimer('build', build.uuid, transactions);
      const end = BigInt(endOfBuild(build) ?? 0);
      return strikes
        .filter(({ sessions, at }) => sessions.has(session ?? '') && end > nanoseconds(at) + CLOCKS)
        .map(
          ({ victim }) =>
            `${build.job} (${build.uuid}) ran on after ${victim.name} was struck: ${JSON.stringify(state)}`,
        );
    }),
  );
}

/** The merger's works that were this request, with their items. */
export function worksOf(items: readonly QueueItem[], request: Uuid) {
  return items.flatMap(item =>
    buildsetsOf(item).flatMap(({ mergerWork }) =>
      mergerWork.filter(work => work.request === request).map(({ done }) => ({ item: item.uuid, done })),
    ),
  );
}

/** Session of the worker that took the request last. Who gives it up makes and removes the claim in one. */
export function claimer(
  kind: 'merge' | 'build',
  request: string,
  transactions: readonly LoggedTransaction[],
): string | undefined {
  return transactions.findLast(({ operations }) => {
    const own = operations.filter(({ path }) =>
      path.endsWith(`/requests/${kind}/default/claimed/${request}`),
    );
    return own.some(each => each.kind === 'create') && own.every(each => each.kind !== 'delete');
  })?.session;
}

function nanoseconds(milliseconds: number): bigint {
  return BigInt(Math.round(milliseconds)) * 1_000_000n;
}
