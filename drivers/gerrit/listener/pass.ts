/**
 * One pass of the listener over Gerrit: what happened that no event announced.
 *
 *     first looks   projects that were never watched: their open changes are listed, and remembered; what was done to them in the
 *                   seconds before happens, because no stream may have been open yet
 *     updates       changes updated since the mark, in batches of projects; each that differs from what is remembered is stored as found
 *     branches      compared with what was read before, where a push may have gone unannounced
 *     mark          moved to the newest update seen; stored last
 *
 * Gerrit's clock alone counts: the mark is the newest `updated` of a listing, less the time that the pass took and a margin for an index
 * that lags. A pass that Gerrit does not answer leaves the mark, and the next one goes on from there.
 */
import type { DriverLog } from '../../../src/driver/connection.ts';
import type { Watch } from '../../../src/driver/intake.ts';
import { addMilliseconds, type Clock, laterOf, type Nanoseconds } from '../../../src/lib/clock.ts';
import type { Step } from '../../../src/model/step.ts';
import type { ChangeInfo } from '../api/change-info.ts';
import { type GerritApi, type GerritCall, isTooLarge } from '../api/port.ts';
import type { ChangeReader } from '../reading/change-reader.ts';
import type { BranchLooks } from './branch-looks.ts';
import { foundBranch, foundChange, foundProject, type ListedBy, listedStateDigest } from './findings.ts';
import { CHANGES_PER_PAGE, type ListingQuery, listedSpan, listingBatches, listPage } from './listing.ts';
import { type ListenerMark, markEvent, projectDigest } from './mark.ts';

/** Of one listener. */
export interface GerritPassDeps {
  readonly api: GerritApi;
  /** Keeps what a listing shows, so that processing need not ask for it again. */
  readonly reader: Pick<ChangeReader, 'listed' | 'submitsTopics'>;
  readonly clock: Clock;
  readonly log: DriverLog;
  /** Whether events were processed that know this state. @throws as the store does. */
  readonly isRemembered: (info: ChangeInfo, memory: Watch['memory']) => Promise<boolean>;
}

/** What one process knows from pass to pass. */
export interface PassState {
  /** Null: nothing has been seen. */
  until: Nanoseconds | null;
  /** {@link projectDigest} of projects that had their first look. */
  readonly covered: Set<string>;
  /** Number → {@link listedStateDigest} of what was stored. */
  readonly seen: Map<number, string>;
  readonly looks: BranchLooks;
  /** A listing had more pages than one pass reads: where the next one goes on, by batch. */
  readonly rests: Map<string, { readonly since: Nanoseconds; readonly before: Nanoseconds }>;
  /** Of all passes since the mark moved: newest update listed, and when the first of them began, in milliseconds. */
  newest: Nanoseconds | null;
  began: number | null;
  /** The mark as stored last. */
  stored: string;
}

/** What decides about the next pass. */
export interface PassEnd {
  /** Gerrit did not answer something. */
  readonly isFailing: boolean;
  /** There is more to list. */
  readonly hasRest: boolean;
  /** Findings. */
  readonly missed: number;
}

/** What a pass is for. */
export interface PassPurpose {
  readonly foundBy: ListedBy;
  /** Projects whose branches are compared: no event announces their moves, or did not for a while. */
  readonly branchLooks: number;
  /** An event has already announced this state. */
  readonly isAnnounced: (info: ChangeInfo) => boolean;
}

/** Milliseconds by which an index lags at most, and clocks of several servers of one Gerrit differ. */
const MARGIN = 60_000;
/** Milliseconds by which our clock may differ from Gerrit's; only where Gerrit has shown no change at all. */
const SKEW = 600_000;
const MOST_PAGES = 20;
const MOST_FIRST_PAGES = 5;
const MOST_SEEN = 20_000;

interface Pass {
  readonly state: PassState;
  readonly purpose: PassPurpose;
  readonly watch: Watch;
  readonly deps: GerritPassDeps;
  readonly call: Omit<GerritCall, 'project'>;
  changes: number;
  missed: number;
  isFailing: boolean;
}

/** @param mark of an earlier process; undefined: there is none. */
export function newPassState(mark: ListenerMark | undefined, looks: BranchLooks): PassState {
  return {
    until: mark?.until ?? null,
    covered: new Set(mark?.projects),
    seen: new Map(),
    looks,
    rests: new Map(),
    newest: null,
    began: null,
    stored: '',
  };
}

/** @param names projects that any tenant has. @throws as the store does. */
export async function passOverGerrit(
  names: readonly string[],
  state: PassState,
  purpose: PassPurpose,
  watch: Watch,
  deps: GerritPassDeps,
): Promise<PassEnd> {
  const startedAt = deps.clock.now();
  state.began ??= deps.clock.monotonic();
  const steps: Step[] = [];
  const call = { signal: watch.signal, steps: (step: Step) => void steps.push(step) };
  const pass: Pass = {
    ...{ state, purpose, watch, deps, call },
    ...{ changes: 0, missed: 0, isFailing: false },
  };
  const fresh = names.filter(name => !state.covered.has(projectDigest(name)));
  const known = names.filter(name => state.covered.has(projectDigest(name)));
  for (const batch of listingBatches(fresh)) await lookFirst(batch, startedAt, pass);
  for (const batch of listingBatches(known)) await lookForUpdates(batch, pass);
  await lookAtBranches(known, startedAt, pass);
  await moveMark(names, addMilliseconds(startedAt, -SKEW), pass);
  const { changes, missed, isFailing } = pass;
  const endedAt = deps.clock.now();
  await watch.passed({
    ...{ startedAt, endedAt, projects: names.length, changes, missed, redelivered: 0, closed: 0, steps },
  });
  if (missed > 0) deps.log.info({ changes, missed }, 'found at Gerrit what no event has announced');
  return { isFailing, hasRest: state.rests.size > 0, missed };
}

async function lookFirst(batch: readonly string[], at: Nanoseconds, pass: Pass): Promise<void> {
  const query = { projects: batch, since: null, before: null };
  const end = await listAll(query, MOST_FIRST_PAGES, true, pass);
  if (end.kind === 'later') return;
  if (end.kind === 'cut')
    pass.deps.log.info(
      { projects: batch, changes: MOST_FIRST_PAGES * CHANGES_PER_PAGE },
      'the oldest open changes of these projects were not read; each is read when something happens to it',
    );
  for (const project of batch) {
    await pass.watch.emit(foundProject(project, pass.purpose.foundBy, at));
    pass.state.covered.add(projectDigest(project));
  }
}

async function lookForUpdates(batch: readonly string[], pass: Pass): Promise<void> {
  const { state, deps } = pass;
  const key = batch.join(' ');
  const rest = state.rests.get(key);
  const from = rest?.since ?? state.until;
  if (from === null) return;
  const since = rest?.since ?? addMilliseconds(from, -MARGIN);
  const end = await listAll(
    { projects: batch, since, before: rest?.before ?? null },
    MOST_PAGES,
    false,
    pass,
  );
  if (end.kind === 'done') state.rests.delete(key);
  if (end.kind !== 'cut') return;
  state.rests.set(key, { since, before: end.oldest });
  deps.log.info(
    { projects: batch.length, changes: MOST_PAGES * CHANGES_PER_PAGE },
    'more changes were updated than one pass lists; the next one goes on with the older ones',
  );
}

type ListingEnd =
  | { readonly kind: 'done' | 'later' }
  | { readonly kind: 'cut'; readonly oldest: Nanoseconds };

async function listAll(
  query: ListingQuery,
  most: number,
  isFirstLook: boolean,
  pass: Pass,
): Promise<ListingEnd> {
  let skip = 0;
  let size = CHANGES_PER_PAGE;
  let oldest: Nanoseconds | undefined;
  for (let page = 0; page < most * CHANGES_PER_PAGE; page += size) {
    pass.call.signal.throwIfAborted();
    const answer = await listPage(query, { skip, size }, pass.deps, pass.call);
    // Changes with long histories: fewer of them may be taken at a time.
    if (isTooLarge(answer)) {
      skip += size > 1 ? 0 : leaveOut(query, pass);
      size = Math.max(1, Math.floor(size / 4));
      continue;
    }
    if (answer.kind !== 'ok') return listingFailed(answer, query, most, isFirstLook, pass);
    const { infos, readAt, hasMore } = answer.data;
    pass.deps.reader.listed(infos, readAt);
    const span = listedSpan(infos);
    if (span !== undefined) {
      oldest = span.oldest;
      pass.state.newest = laterOf(pass.state.newest ?? span.newest, span.newest);
    }
    for (const info of infos.toReversed()) await compare(info, readAt, isFirstLook, pass);
    pass.changes += infos.length;
    if (!hasMore || oldest === undefined) return { kind: 'done' };
    skip += infos.length;
    size = Math.min(CHANGES_PER_PAGE, size * 2);
  }
  // The next query includes the second of the oldest one, unless all of this one is of that second.
  return oldest === undefined
    ? { kind: 'done' }
    : { kind: 'cut', oldest: addMilliseconds(oldest, oldest === query.before ? -1000 : 0) };
}

/** One change alone is too large; those behind it are listed. @returns how many are left out. */
function leaveOut({ projects }: ListingQuery, { deps }: Pass): number {
  deps.log.warn(
    { projects },
    'a change has a longer history than can be read: it is left out of the listing',
  );
  return 1;
}

/** A query with a project that Gerrit does not take is refused as a whole: then each is asked for alone. */
async function listingFailed(
  answer: Exclude<Awaited<ReturnType<typeof listPage>>, { kind: 'ok' }>,
  query: ListingQuery,
  most: number,
  isFirstLook: boolean,
  pass: Pass,
): Promise<ListingEnd> {
  if (answer.kind === 'refused' && query.projects.length > 1) {
    let end: ListingEnd = { kind: 'done' };
    for (const project of query.projects) {
      const alone = await listAll({ ...query, projects: [project] }, most, isFirstLook, pass);
      if (alone.kind !== 'done') end = alone;
    }
    return end;
  }
  if (answer.kind === 'refused') {
    pass.deps.log.warn({ projects: query.projects, error: answer.text }, 'Gerrit does not list the changes');
    return { kind: 'done' };
  }
  pass.isFailing = true;
  return { kind: 'later' };
}

async function compare(
  info: ChangeInfo,
  readAt: Nanoseconds,
  isFirstLook: boolean,
  pass: Pass,
): Promise<void> {
  const { state, purpose, watch, deps } = pass;
  const digest = listedStateDigest(info);
  const same = state.seen.get(info.number) === digest;
  if (same || (!isFirstLook && purpose.isAnnounced(info))) return;
  if (!(await deps.isRemembered(info, watch.memory))) {
    await watch.emit(foundChange(info, { foundBy: purpose.foundBy, readAt, isFirstLook }));
    if (!isFirstLook) pass.missed += 1;
  }
  state.seen.delete(info.number);
  state.seen.set(info.number, digest);
  const [first] = state.seen.keys();
  if (state.seen.size > MOST_SEEN && first !== undefined) state.seen.delete(first);
}

async function lookAtBranches(projects: readonly string[], at: Nanoseconds, pass: Pass): Promise<void> {
  const { state, purpose, watch, call } = pass;
  for (const project of state.looks.next(projects, purpose.branchLooks)) {
    call.signal.throwIfAborted();
    const look = await state.looks.look(project, call);
    if (look === undefined) {
      pass.isFailing = true;
      continue;
    }
    if (look.isFirst) await watch.emit(foundProject(project, purpose.foundBy, at));
    for (const move of look.moves) {
      pass.missed += 1;
      await watch.emit(foundBranch(project, move, purpose.foundBy, at));
    }
  }
}

/** @param start where nothing has ever been listed. */
async function moveMark(
  names: readonly string[],
  start: Nanoseconds,
  { state, watch, deps, isFailing }: Pass,
): Promise<void> {
  if (isFailing || state.rests.size > 0) return;
  const { newest, began } = state;
  const took = began === null ? 0 : deps.clock.monotonic() - began;
  const shown = newest === null ? null : addMilliseconds(newest, -took);
  if (state.until === null) state.until = shown ?? start;
  else if (shown !== null) state.until = laterOf(state.until, shown);
  state.newest = null;
  state.began = null;
  // Projects that no tenant has any more get their first look again when they come back.
  const watched = new Set(names.map(projectDigest));
  for (const digest of state.covered) if (!watched.has(digest)) state.covered.delete(digest);
  const event = markEvent({ until: state.until, projects: state.covered });
  if (event.deliveryId === state.stored) return;
  await watch.emit(event);
  state.stored = event.deliveryId;
}
