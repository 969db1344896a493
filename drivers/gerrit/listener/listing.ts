/**
 * Changes of some projects that were updated since a time, newest first, a page at a time, with everything that a reading of a change has:
 * what a listing shows need not be asked for again.
 *
 *     GET changes/?q=(project:"a" OR project:"b") since:"2026-11-22 13:00:00"&n=100&S=100&o=…
 */
import { type Clock, earlierOf, laterOf, type Nanoseconds } from '../../../src/lib/clock.ts';
import { CHANGE_OPTIONS, type ChangeInfo, readChangeInfo } from '../api/change-info.ts';
import { gerritTimeText } from '../api/info-time.ts';
import type { GerritAnswer, GerritApi, GerritCall } from '../api/port.ts';

/** Which changes are listed. */
export interface ListingQuery {
  readonly projects: readonly string[];
  /** Null: open changes, updated at any time. */
  readonly since: Nanoseconds | null;
  /** Only those updated by then; null: all. */
  readonly before: Nanoseconds | null;
}

/** One page. */
export interface ListedPage {
  readonly infos: readonly ChangeInfo[];
  /** Before it was asked for. */
  readonly readAt: Nanoseconds;
  readonly hasMore: boolean;
}

/** Changes of a page. */
export const CHANGES_PER_PAGE = 100;
/** Projects of one query, and characters of their names. */
const MOST_PROJECTS = 40;
const MOST_CHARACTERS = 1_500;

/** Projects that are listed together. */
export function listingBatches(projects: readonly string[]): readonly (readonly string[])[] {
  const batches: string[][] = [];
  let size = 0;
  for (const project of projects) {
    const last = batches.at(-1);
    const added = encodeURIComponent(project).length + 20;
    if (last === undefined || last.length === MOST_PROJECTS || size + added > MOST_CHARACTERS) {
      batches.push([project]);
      size = added;
    } else {
      last.push(project);
      size += added;
    }
  }
  return batches;
}

/** @param skip changes of the pages before. @param size changes of this one, at most. */
export async function listPage(
  query: ListingQuery,
  { skip, size }: { readonly skip: number; readonly size: number },
  { api, clock }: { readonly api: GerritApi; readonly clock: Clock },
  call: Omit<GerritCall, 'project'>,
): Promise<GerritAnswer<ListedPage>> {
  const readAt = clock.now();
  const options = CHANGE_OPTIONS.map(option => `&o=${option}`).join('');
  const path = `changes/?q=${encodeURIComponent(queryText(query))}&n=${size}${skip > 0 ? `&S=${skip}` : ''}${options}`;
  const answer = await api.ask(
    { operation: 'changes/list', method: 'GET', path },
    { ...call, project: query.projects[0] ?? '' },
  );
  if (answer.kind !== 'ok') return answer;
  const found = Array.isArray(answer.data) ? answer.data : [];
  const infos = found.map(readChangeInfo).filter(info => info !== undefined);
  const hasMore = infos.at(-1)?.hasMore === true;
  return { kind: 'ok', status: answer.status, data: { infos, readAt, hasMore } };
}

function queryText({ projects, since, before }: ListingQuery): string {
  const names = projects.map(project => `project:"${project.replaceAll('"', '')}"`);
  const only = names.length === 1 ? (names[0] ?? '') : `(${names.join(' OR ')})`;
  const from = since === null ? 'status:open' : `since:"${gerritTimeText(since)}"`;
  return [only, from, ...(before === null ? [] : [`before:"${gerritTimeText(before)}"`])].join(' ');
}

/** `updated` of the newest and of the oldest; undefined: there is none. */
export function listedSpan(
  infos: readonly ChangeInfo[],
): { readonly newest: Nanoseconds; readonly oldest: Nanoseconds } | undefined {
  const [first, ...others] = infos.map(({ updatedAt }) => updatedAt);
  if (first === undefined) return undefined;
  return { newest: others.reduce(laterOf, first), oldest: others.reduce(earlierOf, first) };
}
