/**
 * The changes that a query finds, page by page; each that differs from what is remembered is stored as found.
 *
 * A listing ends `done`, `cut` after the most pages of one pass, or `later`, when Gerrit did not answer. Pages that are too large are
 * asked for in smaller ones, and a query that Gerrit refuses is asked again for each project alone.
 */
import { addMilliseconds, laterOf, type Nanoseconds } from '../../../src/lib/clock.ts';
import type { ChangeInfo } from '../api/change-info.ts';
import { isTooLarge } from '../api/port.ts';
import { foundChange, listedStateDigest } from './findings.ts';
import { CHANGES_PER_PAGE, type ListingQuery, listedSpan, listPage } from './listing.ts';
import type { Pass } from './pass-state.ts';

/** Changes whose last stored state is remembered. */
const MOST_SEEN = 20_000;

/** How far a listing came. */
export type ListingEnd =
  | { readonly kind: 'done' | 'later' }
  | { readonly kind: 'cut'; readonly oldest: Nanoseconds };

/** @param most pages. @param isFirstLook of projects that were never watched. @throws as the store does; the signal's reason. */
export async function listChanges(
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
      const alone = await listChanges({ ...query, projects: [project] }, most, isFirstLook, pass);
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
