/** A notification about a change: read it, compare, and say what happened. */

import { nothingFound } from '../../../src/driver/host-finding.ts';
import type { HostLater } from '../../../src/driver/host-later.ts';
import { openMemoryIndex } from '../../../src/driver/memory-index.ts';
import { assertNever } from '../../../src/lib/assert-never.ts';
import type { ChangeRecord } from '../../../src/model/change.ts';
import type { ChangeInfo } from '../api/change-info.ts';
import type { GerritAnswer } from '../api/port.ts';
import { changeBaseline, changeHappenings, freshMessages } from './change-happenings.ts';
import {
  type ChangeMemory,
  changeMemory,
  changeMemoryKey,
  decodeChangeMemory,
  encodeChangeMemory,
  isOlderReading,
} from './change-memory.ts';
import { gerritLater, isUnreadable } from './gerrit-later.ts';
import { readOutdatedChildren } from './outdated-children.ts';
import { readPatchsetComments } from './patchset-comments.ts';
import { processGoneChange } from './process-gone-change.ts';
import type { ChangeAbout, GerritFinding, GerritFound, GerritProcessing } from './processing.ts';
import { readChangeRecord } from './read-record.ts';
import { refIndexPrefix } from './read-ref.ts';

/** @throws RecordError `newer` when an upgraded process wrote the memory. */
export async function processChange(about: ChangeAbout, processing: GerritProcessing): Promise<GerritFound> {
  const { memory } = processing;
  const known = decodeChangeMemory(await memory.get(changeMemoryKey(about.number)));
  const read = await readFresh(about, known, processing);
  switch (read.kind) {
    case 'later':
      return { later: read.later };
    case 'unreadable':
      return nothingFound(read.text);
    case 'gone':
      return await processGoneChange(about, known, processing);
    case 'read': {
      const { info } = read;
      if (info.project !== processing.notification.project)
        return nothingFound(`change ${info.number} is one of project ${info.project.slice(0, 200)}`);
      return await findingOf(about, known, read, processing);
    }
    default:
      return assertNever(read);
  }
}

/** A reading. */
interface Read {
  readonly kind: 'read';
  readonly info: ChangeInfo;
  readonly readAt: ChangeRecord['fetchedAt'];
}

type Unread =
  | { readonly kind: 'gone' }
  | { readonly kind: 'later'; readonly later: HostLater }
  /** However often it is read. */
  | { readonly kind: 'unreadable'; readonly text: string };

/** Not older than the notification and the memory; after some tries as Gerrit shows it. */
async function readFresh(
  about: ChangeAbout,
  known: ChangeMemory | undefined,
  { event, call, deps }: GerritProcessing,
): Promise<Read | Unread> {
  const { number, patchset, readAt, isDeleted } = about;
  const what = `change ${number}`;
  // Waiting hints are answered by this reading as well, so it must not be older than now.
  for (const notBefore of [...(readAt === undefined ? [] : [readAt]), deps.clock.now()]) {
    const answer = await deps.reader.read({ number, notBefore, patchset }, call);
    if (answer.kind !== 'ok') return unreadOf(answer, what);
    const found = answer.data;
    const isLast = readAt === undefined || notBefore !== readAt;
    const isFresh =
      found === null ? isDeleted === true || known !== undefined : isUpToDate(found.info, about, known);
    if (!isFresh && !isLast) continue;
    const later = isFresh ? undefined : deps.staleReads.again(event.uuid, what);
    if (later !== undefined) return { kind: 'later', later };
    return found === null ? { kind: 'gone' } : { kind: 'read', ...found };
  }
  return { kind: 'gone' };
}

function unreadOf(answer: Exclude<GerritAnswer<unknown>, { readonly kind: 'ok' }>, what: string): Unread {
  if (answer.kind === 'refused' && isUnreadable(answer))
    return { kind: 'unreadable', text: `${what}: ${answer.text}` };
  return { kind: 'later', later: gerritLater(answer, what) };
}

/** Of a change that was deleted no answer is. */
function isUpToDate(
  info: ChangeInfo,
  { patchset, isDeleted }: ChangeAbout,
  known: ChangeMemory | undefined,
): boolean {
  return isDeleted !== true && info.revision.number >= (patchset ?? 0) && !isOlderReading(info, known);
}

async function findingOf(
  about: ChangeAbout,
  known: ChangeMemory | undefined,
  { info, readAt }: Read,
  processing: GerritProcessing,
): Promise<GerritFound> {
  const { notification, project, projects, memory, watchedSince, record, call, deps } = processing;
  const tips = openMemoryIndex(memory, refIndexPrefix(notification.project));
  const tip = await tips.get(`refs/heads/${info.branch}`);
  const read = await readChangeRecord({ project, projects, info, readAt, tip }, call, deps);
  if (read.kind !== 'ok') return { later: gerritLater(read, `change ${info.number}`) };
  const now = changeMemory(info, read.data);
  const isFirstLook = about.isFirstLook === true;
  if (isFirstLook && known !== undefined && known.isUnreported !== true)
    return withMemory(known, now, read.data, []);
  // Nothing announces what happens between the beginning of the watch and the opening of the stream.
  const since = isFirstLook ? (about.readAt ?? readAt) : watchedSince;
  const isUncompared = known === undefined || isUnreportedStill(known, now);
  const before = isUncompared ? changeBaseline(now, info, notification.event, since) : known;
  const comments = await readPatchsetComments(info.number, freshMessages(info, before), call, deps.api);
  if (comments.kind !== 'ok') return { later: gerritLater(comments, `comments of change ${info.number}`) };
  const parent = { ...{ project, known, now, readAt, record }, number: info.number };
  const children = await readOutdatedChildren(parent, call, deps.api);
  if (children.kind !== 'ok') return { later: gerritLater(children, `changes on change ${info.number}`) };
  const happenings = changeHappenings(before, now, info, comments.data);
  const happened = happenings.map(({ type, facts }) => ({ type, facts, change: read.data.change }));
  const remembered = isFirstLook && happened.length === 0 ? { ...now, isUnreported: true as const } : now;
  const finding = withMemory(known, remembered, read.data, happened);
  return { ...finding, changes: [...finding.changes, ...children.data] };
}

/** What is remembered is compared as if it were the first reading: nothing was made of it. */
function isUnreportedStill(known: ChangeMemory, now: ChangeMemory): boolean {
  const { at, count } = known.newest;
  return (
    known.isUnreported === true &&
    known.record === now.record &&
    at === now.newest.at &&
    count === now.newest.count
  );
}

function withMemory(
  known: ChangeMemory | undefined,
  now: ChangeMemory,
  record: ChangeRecord,
  happened: GerritFinding['happened'],
): GerritFinding {
  const differs = known?.record !== now.record || known.gone !== undefined;
  const isSame = JSON.stringify(known) === JSON.stringify(now);
  const number = record.change.kind === 'change' ? Number(record.change.id) : 0;
  return {
    happened,
    changes: differs || happened.length > 0 ? [record] : [],
    memory: isSame ? [] : [{ key: changeMemoryKey(number), value: encodeChangeMemory(now) }],
    ...(differs || happened.length > 0 ? {} : { discarded: 'the change is as it was' }),
  };
}
