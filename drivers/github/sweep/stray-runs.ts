/**
 * Check runs of ours that are in progress while their item is in no pipeline any more. Reports are durable and end them; this is for
 * what a person would otherwise wait for without end: an installation that was set up anew, a run whose report was given up.
 *
 * A run is ended in the second sweep that finds it: the report of an item that has just left may be on its way.
 */
import type { Watch } from '../../../src/driver/intake.ts';
import { parseUuid, type Uuid } from '../../../src/lib/ids.ts';
import type { GithubApi, GithubCall } from '../api/port.ts';
import { nodesOf } from '../reading/query/pull-state.ts';
import type { ListedRepository, ListedRun } from './listing-query.ts';

/** A run of ours in progress. */
export interface OpenRun {
  readonly id: number;
  readonly tenant: string;
  readonly pipeline: string;
  readonly item: Uuid;
}

/** Of an item, as the reporter writes it; neither half of a uuid is zero. */
const EXTERNAL_ID = /^([^/]+)\/([^/]+)\/((?!0{16})[0-9a-f]{16}(?!0{16})[0-9a-f]{16})$/;

/** Pure. */
export function openRuns(listed: ListedRepository): readonly OpenRun[] {
  return nodesOf(listed.pullRequests).flatMap(({ commits }) =>
    nodesOf(commits).flatMap(({ commit }) =>
      nodesOf(commit.checkSuites).flatMap(({ checkRuns }) => nodesOf(checkRuns).flatMap(openRun)),
    ),
  );
}

function openRun({ databaseId, externalId }: ListedRun): readonly OpenRun[] {
  const [, tenant, pipeline, item] = EXTERNAL_ID.exec(externalId ?? '') ?? [];
  if (databaseId === null || tenant === undefined || pipeline === undefined || item === undefined) return [];
  return [{ id: databaseId, tenant, pipeline, item: parseUuid(item) }];
}

/** Those whose item is gone. @throws as the store does. */
export async function strayRuns(
  runs: readonly OpenRun[],
  isLive: Watch['isLive'],
): Promise<readonly OpenRun[]> {
  const live = await Promise.all(runs.map(isLive));
  return runs.filter((_, index) => live[index] === false);
}

/** @returns whether GitHub took it. */
export async function endRun(
  { id }: OpenRun,
  api: Pick<GithubApi, 'rest'>,
  call: GithubCall,
): Promise<boolean> {
  const answer = await api.rest(
    'checks/update',
    'PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}',
    {
      check_run_id: id,
      status: 'completed',
      conclusion: 'cancelled',
      output: {
        title: 'Not in the pipeline any more',
        summary:
          'The item of this check left its pipeline, and its result did not arrive here. Re-run the check to test again.',
      },
      actions: [],
    },
    call,
  );
  return answer.kind === 'ok';
}
