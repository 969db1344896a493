/**
 * Readings of changes, shared by everything that looks at a change.
 *
 *   known readings     reused where they are new enough (change-readings.ts)
 *   reads under way    serve all callers that ask before they are sent
 *   a burst            more than 4 different changes wanted in one turn of the event loop are read with queries, 25 at a time
 *   one change         `changes/<n>/detail`, which is never behind; a query comes from Gerrit's index, which may be
 *   a stale answer     is asked for again by detail, up to 3 times, and then comes later
 */
import type { Clock, Nanoseconds } from '../../../src/lib/clock.ts';
import { pause } from '../../../src/lib/pause.ts';
import type { ChangeInfo } from '../api/change-info.ts';
import type { GerritAnswer, GerritApi, GerritCall } from '../api/port.ts';
import {
  type ChangeReadings,
  createChangeReadings,
  type ReadChange,
  type WantedChange,
} from './change-readings.ts';
import { createPatchsetPlaces, type PatchsetPlaces } from './patchset-places.ts';
import { askForChanges, askForDetail, MOST_CHANGES_IN_QUERY } from './read-changes.ts';
import { createSharedCall, type SharedCall } from './shared-call.ts';
import { createTopicSubmission, type TopicSubmission } from './topics.ts';

/** Of one connection, in the memory of one process. */
export interface ChangeReader {
  /** Null: not there, or hidden from us (404). */
  read(wanted: WantedChange, call: GerritCall): Promise<GerritAnswer<ReadChange | null>>;
  /** What a listing that began at `readAt` showed. */
  listed(infos: readonly ChangeInfo[], readAt: Nanoseconds): void;
  /** Which changes the commits are patch sets of; a commit that is not in the map is none of a change. */
  patchsetsOf: PatchsetPlaces['patchsetsOf'];
  /** Whether Gerrit submits the changes of a topic in one go. */
  submitsTopics: TopicSubmission['submitsTopics'];
}

/** Effects of the reader. */
export interface ChangeReaderDeps {
  readonly api: GerritApi;
  readonly clock: Clock;
  /** See {@link createTopicSubmission}. */
  readonly notedTopics?: (submitsTopics: boolean) => void;
  /** Default: real time. */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Fewer are each read by detail. */
const FEWEST_IN_QUERY = 5;

/** One read that is going to be sent, or under way. */
interface PendingRead {
  readonly number: number;
  wanted: WantedChange;
  /** Undefined: not sent yet, so that it is new enough for all who ask now. */
  sentAt: Nanoseconds | undefined;
  readonly shared: SharedCall;
  readonly answer: Promise<GerritAnswer<ReadChange | null>>;
  readonly settle: (answer: Promise<GerritAnswer<ReadChange | null>>) => void;
}

export function createChangeReader(deps: ChangeReaderDeps): ChangeReader {
  const readings: ChangeReadings = createChangeReadings();
  const pending = new Map<number, PendingRead>();
  const reading = { ...deps, pause: deps.pause ?? pause, readings };
  const places = createPatchsetPlaces(deps);
  const topics = createTopicSubmission(deps);
  let queue: PendingRead[] = [];

  function enqueue(wanted: WantedChange): PendingRead {
    const { promise, resolve } = Promise.withResolvers<GerritAnswer<ReadChange | null>>();
    const { number } = wanted;
    const read = {
      number,
      wanted,
      sentAt: undefined,
      shared: createSharedCall(),
      answer: promise,
      settle: resolve,
    };
    pending.set(number, read);
    queue.push(read);
    if (queue.length === 1) setImmediate(flush);
    const forget = () => pending.get(number) === read && pending.delete(number);
    promise.then(forget, forget);
    return read;
  }

  function flush(): void {
    const reads = queue.filter(({ shared }) => !shared.isAbandoned());
    for (const read of queue) {
      if (!reads.includes(read)) read.settle(Promise.reject(read.shared.call.signal.reason));
    }
    queue = [];
    const sentAt = deps.clock.now();
    for (const read of reads) read.sentAt = sentAt;
    if (reads.length < FEWEST_IN_QUERY) {
      for (const read of reads) read.settle(askForDetail(read.wanted, read.shared.call, reading));
      return;
    }
    for (let first = 0; first < reads.length; first += MOST_CHANGES_IN_QUERY) {
      const part = reads.slice(first, first + MOST_CHANGES_IN_QUERY);
      const asked = askForChanges(
        part.map(read => ({ wanted: read.wanted, call: read.shared.call })),
        reading,
      );
      part.forEach((read, index) => void read.settle(asked.then(answers => answerAt(answers, index))));
    }
  }

  return {
    read(wanted, call) {
      if (call.signal.aborted) return Promise.reject(call.signal.reason);
      const known = readings.find(wanted);
      if (known !== undefined) return Promise.resolve({ kind: 'ok', status: 200, data: known });
      const underWay = pending.get(wanted.number);
      const read = underWay !== undefined && serves(underWay, wanted) ? underWay : enqueue(wanted);
      if (read.sentAt === undefined) read.wanted = stricterOf(read.wanted, wanted);
      return read.shared.join(read.answer, call);
    },
    listed(infos, readAt) {
      for (const info of infos) readings.keep({ info, readAt });
    },
    patchsetsOf: places.patchsetsOf,
    submitsTopics: topics.submitsTopics,
  };
}

function serves({ sentAt, wanted, shared }: PendingRead, { notBefore, patchset }: WantedChange): boolean {
  if (shared.isAbandoned()) return false;
  if (sentAt === undefined) return true;
  return BigInt(sentAt) >= BigInt(notBefore) && (wanted.patchset ?? 0) >= (patchset ?? 0);
}

function stricterOf(a: WantedChange, b: WantedChange): WantedChange {
  const patchset =
    a.patchset === null && b.patchset === null ? null : Math.max(a.patchset ?? 0, b.patchset ?? 0);
  return {
    number: a.number,
    notBefore: BigInt(a.notBefore) >= BigInt(b.notBefore) ? a.notBefore : b.notBefore,
    patchset,
  };
}

async function answerAt<T>(answers: readonly Promise<T>[], index: number): Promise<T> {
  const answer = answers[index];
  if (answer === undefined) throw new Error(`no answer ${index} of ${answers.length}`);
  return await answer;
}
