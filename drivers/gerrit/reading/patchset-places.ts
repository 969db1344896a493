/**
 * Which change a commit is a patch set of. That never changes; the state of the change does, so that only places at merged changes are
 * known for good. That a commit is none of a change is known for a minute: it may be pushed for review yet.
 */
import { isMapping } from '../../../src/driver/read-mapping.ts';
import { createLru } from '../../../src/git/support/lru.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import type { Json } from '../../../src/model/job.ts';
import { choiceOf, type JsonMapping, mappingsOf, pairsOf, textOf, wholeOf } from '../api/info-json.ts';
import type { GerritAnswer, GerritApi, GerritCall } from '../api/port.ts';

/** Where a commit is a patch set. */
export interface CommitPlace {
  readonly number: number;
  readonly patchset: number;
  readonly currentPatchset: number;
  readonly status: 'NEW' | 'MERGED' | 'ABANDONED';
  readonly project: string;
  readonly branch: string;
}

/** In the memory of one process. */
export interface PatchsetPlaces {
  /**
   * A commit that is not in the map is none of a change. One of several changes: the open one with the highest number, else a merged one.
   *
   * @param commits full hashes; others are none of a change.
   */
  patchsetsOf(
    commits: readonly string[],
    call: GerritCall,
  ): Promise<GerritAnswer<ReadonlyMap<string, CommitPlace>>>;
}

const MOST_COMMITS_IN_QUERY = 20;
const MOST_KNOWN = 20_000;
const MOST_CHANGES = 1_000;
const NONE_FOR_MS = 60_000;

type Known = { readonly place: CommitPlace } | { readonly noneAt: number };

export function createPatchsetPlaces({
  api,
  clock,
}: {
  readonly api: GerritApi;
  readonly clock: Clock;
}): PatchsetPlaces {
  const known = createLru<string, Known>(MOST_KNOWN);

  function remember(commit: string, place: CommitPlace | undefined): void {
    if (place === undefined) known.set(commit, { noneAt: clock.monotonic() });
    else if (place.status === 'MERGED') known.set(commit, { place });
    else known.delete(commit);
  }

  /** @returns undefined: it has to be asked for. */
  function knownOf(commit: string): Known | undefined {
    const found = known.get(commit);
    const isOver = found !== undefined && 'noneAt' in found && clock.monotonic() - found.noneAt > NONE_FOR_MS;
    return isOver ? undefined : found;
  }

  return {
    async patchsetsOf(commits, call) {
      const places = new Map<string, CommitPlace>();
      const wanted = new Set<string>();
      for (const commit of commits.filter(each => /^[0-9a-f]{40,64}$/.test(each))) {
        const found = knownOf(commit);
        if (found === undefined) wanted.add(commit);
        else if ('place' in found) places.set(commit, found.place);
      }
      const asked = [...wanted];
      for (let first = 0; first < asked.length; first += MOST_COMMITS_IN_QUERY) {
        const part = asked.slice(first, first + MOST_COMMITS_IN_QUERY);
        const answer = await askForPlaces(part, call, api);
        if (answer.kind !== 'ok') return answer;
        for (const commit of part) {
          const place = answer.data.get(commit);
          remember(commit, place);
          if (place !== undefined) places.set(commit, place);
        }
      }
      return { kind: 'ok', status: 200, data: places };
    },
  };
}

async function askForPlaces(
  commits: readonly string[],
  call: GerritCall,
  api: GerritApi,
): Promise<GerritAnswer<ReadonlyMap<string, CommitPlace>>> {
  const query = commits.map(commit => `commit:${commit}`).join('+OR+');
  const path = `changes/?q=${query}&o=ALL_REVISIONS`;
  const answer = await api.ask({ operation: 'changes/query-commits', method: 'GET', path }, call);
  if (answer.kind !== 'ok') return answer;
  if (!Array.isArray(answer.data)) {
    const text = 'what Gerrit answered is no list of changes';
    return { kind: 'later', later: { reason: 'other', text } };
  }
  const found = mappingsOf(answer.data, MOST_CHANGES).flatMap(placesAt).sort(byPreference);
  // The last one stays.
  return { ...answer, data: new Map(found.filter(([commit]) => commits.includes(commit))) };
}

const STATUSES = ['ABANDONED', 'MERGED', 'NEW'] as const;
type Place = readonly [commit: string, place: CommitPlace];

function byPreference([, a]: Place, [, b]: Place): number {
  return STATUSES.indexOf(a.status) - STATUSES.indexOf(b.status) || a.number - b.number;
}

function placesAt(change: JsonMapping): readonly Place[] {
  const number = wholeOf(change._number);
  const status = choiceOf(change.status, STATUSES);
  const project = textOf(change.project, 1_000);
  const branch = textOf(change.branch, 1_000);
  if (number === null || status === null || project === null || branch === null) return [];
  const patchsets = pairsOf(change.revisions, 10_000).flatMap(([commit, revision]) => {
    const patchset = numberOf(revision);
    return patchset === null ? [] : [{ commit, patchset }];
  });
  const currentPatchset = Math.max(...patchsets.map(({ patchset }) => patchset));
  return patchsets.map(({ commit, patchset }) => [
    commit,
    { number, patchset, currentPatchset, status, project, branch: branch.replace(/^refs\/heads\//, '') },
  ]);
}

/** An edit that is not published is `edit`, and no patch set. */
function numberOf(revision: Json): number | null {
  return isMapping(revision) ? wholeOf(revision._number) : null;
}
