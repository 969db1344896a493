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
import type { Watch } from '../../../src/driver/intake.ts';
import { addMilliseconds, laterOf, type Nanoseconds } from '../../../src/lib/clock.ts';
import type { Step } from '../../../src/model/step.ts';
import { foundBranch, foundProject } from './findings.ts';
import { listChanges } from './list-changes.ts';
import { CHANGES_PER_PAGE, listingBatches } from './listing.ts';
import { markEvent, projectDigest } from './mark.ts';
import type { GerritPassDeps, Pass, PassPurpose, PassState } from './pass-state.ts';

/** What decides about the next pass. */
export interface PassEnd {
  /** Gerrit did not answer something. */
  readonly isFailing: boolean;
  /** There is more to list. */
  readonly hasRest: boolean;
  /** Findings. */
  readonly missed: number;
}

/** Milliseconds by which an index lags at most, and clocks of several servers of one Gerrit differ. */
const MARGIN = 60_000;
/** Milliseconds by which our clock may differ from Gerrit's; only where Gerrit has shown no change at all. */
const SKEW = 600_000;
const MOST_PAGES = 20;
const MOST_FIRST_PAGES = 5;

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
  const end = await listChanges(query, MOST_FIRST_PAGES, true, pass);
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
  const end = await listChanges(
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

async function lookAtBranches(projects: readonly string[], at: Nanoseconds, pass: Pass): Promise<void> {
  const { state, purpose, watch, call } = pass;
  const isWhole = await state.looks.compare(projects, purpose.branchLooks, call, async (project, look) => {
    if (look.isFirst) await watch.emit(foundProject(project, purpose.foundBy, at));
    for (const move of look.moves) {
      pass.missed += 1;
      await watch.emit(foundBranch(project, move, purpose.foundBy, at));
    }
  });
  if (!isWhole) pass.isFailing = true;
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
