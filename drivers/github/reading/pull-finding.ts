/** One reading of a pull request, compared with the memory: events, change record, new memory. Writes nothing. */

import { type MemoryIndex, openMemoryIndex } from '../../../src/driver/memory-index.ts';
import type { ContextFact } from '../facts.ts';
import { notificationJson } from '../intake/notification.ts';
import { ownReportOf } from './own-report.ts';
import type { EventProcessing, GithubFinding } from './processing.ts';
import { baseline, type PullHappening, pullHappenings } from './pull-happenings.ts';
import {
  contextDigest,
  decodePullMemory,
  encodePullMemory,
  type PullMemory,
  pullMemory,
  pullMemoryKey,
  withDeed,
} from './pull-memory.ts';
import type { PullReading } from './read-pull.ts';

/** Events after which a late `opened` changes nothing. */
const ANNOUNCING: ReadonlySet<string> = new Set(['opened', 'changed', 'reopened']);

/**
 * @param known what is remembered; undefined: this is the first reading.
 * @param indexes brought up to date.
 */
export async function pullFinding(
  known: PullMemory | undefined,
  reading: PullReading,
  { heads, closed }: PullIndexes,
  { event, notification: hint, seenSince }: Pick<EventProcessing, 'event' | 'notification' | 'seenSince'>,
): Promise<GithubFinding> {
  const { repository } = hint;
  const now = pullMemory(reading, known);
  // A reading that led to no event (a listing, before the webhook was processed) leaves what the webhook says to be reported.
  const isFirst = known === undefined || (known.isUnreported === true && known.record === now.record);
  const before = isFirst ? baseline(now, reading, hint, seenSince) : known;
  const { happenings, rest } = pullHappenings(before, now, reading, hint);
  const { record } = reading;
  const { number, headRefOid: head } = reading.pull;
  await indexHead({ number, head, isOpen: record.status === 'open' }, known, heads);
  await closed.set(String(reading.pull.number), record.status === 'open' ? undefined : '');
  const announced = now.announced || happenings.some(({ facts }) => ANNOUNCING.has(facts.action));
  const once = 'once' in hint.about ? hint.about.once : undefined;
  const contexts = withoutRest(now, before, rest);
  const isUnreported = (known === undefined || known.isUnreported === true) && happenings.length === 0;
  const remembered = { ...now, announced, contexts, ...(isUnreported ? { isUnreported } : {}) };
  const memory = encodePullMemory(withDeed(remembered, once));
  const differs = known === undefined || known.record !== now.record;
  return {
    happened: happenings.map(({ type, facts }: PullHappening) => ({
      ...{ type, facts, change: record.change },
      ...ownReportOf(facts, reading.us),
    })),
    changes: differs || happenings.length > 0 ? [record] : [],
    memory: [{ key: pullMemoryKey(repository, reading.pull.number), value: memory }],
    ...(differs || happenings.length > 0 ? {} : { discarded: 'the pull request is as it was' }),
    ...(rest.length === 0 ? {} : { again: readAgain(event, hint, now.head, rest.length) }),
  };
}

/** What is not reported yet is remembered as it was before: the next reading finds it. */
function withoutRest(
  now: PullMemory,
  before: PullMemory | undefined,
  rest: readonly ContextFact[],
): PullMemory['contexts'] {
  const contexts = new Map(now.contexts);
  for (const digest of rest.map(contextDigest)) {
    const former = before?.head === now.head ? before.contexts.get(digest) : undefined;
    if (former === undefined) contexts.delete(digest);
    else contexts.set(digest, former);
  }
  return contexts;
}

/** Fewer are left each time, so the delivery id is new, and this ends. */
function readAgain(
  { type, deliveryId }: EventProcessing['event'],
  notification: EventProcessing['notification'],
  commit: string,
  left: number,
): NonNullable<GithubFinding['again']> {
  return {
    type,
    foundBy: 'other-event',
    deliveryId: `${deliveryId.replace(/-rest-\d+$/, '').slice(0, 80)}-rest-${left}`,
    payload: notificationJson({ ...notification, action: '', about: { kind: 'commit', commit } }),
  };
}

/** Brings the index up to date with a pull request as it is now. */
export async function indexHead(
  { number, head, isOpen }: { readonly number: number; readonly head: string; readonly isOpen: boolean },
  known: PullMemory | undefined,
  heads: MemoryIndex,
): Promise<void> {
  const text = String(number);
  if (known !== undefined && known.head !== head) await setHead(heads, known.head, text, false);
  await setHead(heads, head, text, isOpen);
}

/** Pull requests in the index for one commit: more than one happens, very many do not. */
const MOST_OF_ONE_HEAD = 10;

async function setHead(heads: MemoryIndex, head: string, number: string, isThere: boolean): Promise<void> {
  const before = (await pullsOfHead(heads, head))?.map(String) ?? [];
  const others = before.filter(each => each !== number);
  const after = isThere ? [...others, number].slice(-MOST_OF_ONE_HEAD) : others;
  if (after.length !== before.length || isThere !== before.includes(number))
    await heads.set(head, after.join(' '));
}

/** Open pull requests with this head, as far as they were read; undefined: none was ever read with it. */
export async function pullsOfHead(heads: MemoryIndex, head: string): Promise<readonly number[] | undefined> {
  return (await heads.get(head))?.split(' ').filter(Boolean).map(Number);
}

/** Of one repository, as one event sees and changes them. */
export interface PullIndexes {
  /** Open pull requests by head. */
  readonly heads: MemoryIndex;
  /** Numbers of closed pull requests that are remembered. */
  readonly closed: MemoryIndex;
  /** For `ProcessedEvent.memory`. */
  changes(): GithubFinding['memory'];
}

/** Closed pull requests remembered in each of 256 entries: some two thousand of a repository, those that closed last. */
const MOST_CLOSED = 8;

/** The memory of a closed pull request goes when many others have closed since: a late event of it finds it closed, and reports nothing. */
export function openPullIndexes(memory: EventProcessing['memory'], repository: string): PullIndexes {
  const heads = openMemoryIndex(memory, `heads/${repository}`);
  const closed = openMemoryIndex(memory, `closed/${repository}`, MOST_CLOSED);
  return {
    heads,
    closed,
    changes: () => [
      ...heads.changes(),
      ...closed.changes(),
      ...closed
        .evicted()
        .map(number => ({ key: pullMemoryKey(repository, Number(number)), value: undefined })),
    ],
  };
}

/** @throws RecordError `newer` when an upgraded process wrote it. */
export async function recallPull(
  memory: { get(key: string): Promise<Parameters<typeof decodePullMemory>[0]> },
  repository: string,
  number: number,
): Promise<PullMemory | undefined> {
  return decodePullMemory(await memory.get(pullMemoryKey(repository, number)));
}
