/** Lists the branches of a project. */
import type { Json } from '../../../src/model/job.ts';
import { type CommitId, parseCommitId } from '../../../src/model/project.ts';
import { mappingsOf } from '../api/info-json.ts';
import type { GerritAnswer, GerritApi, GerritCall } from '../api/port.ts';
import { tipOf } from './read-ref.ts';

/** Entries of a page, and pages: further branches are not seen. */
const PAGE = 500;
const MOST_PAGES = 100;

/** A branch with its tip. */
export interface GerritBranch {
  /** Without `refs/heads/`. */
  readonly branch: string;
  readonly commit: CommitId;
}

/** In Gerrit's order, without `HEAD` and `refs/meta/config`, which it lists as well. */
export async function listGerritBranches(
  call: GerritCall,
  api: GerritApi,
): Promise<GerritAnswer<readonly GerritBranch[]>> {
  const branches: GerritBranch[] = [];
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const path = `projects/${encodeURIComponent(call.project)}/branches/?n=${PAGE}&S=${page * PAGE}`;
    const answer = await api.ask({ operation: 'projects/branches', method: 'GET', path }, call);
    if (answer.kind !== 'ok') return answer;
    const listed = mappingsOf(answer.data, PAGE);
    branches.push(...listed.flatMap(branchOf));
    if (listed.length < PAGE) break;
  }
  return { kind: 'ok', status: 200, data: branches };
}

/** `HEAD` has the name of a branch for its revision. */
function branchOf(info: { readonly [name: string]: Json }): readonly GerritBranch[] {
  const { ref } = info;
  const tip = tipOf(info);
  if (typeof ref !== 'string' || !ref.startsWith('refs/heads/') || tip === null) return [];
  return [{ branch: ref.slice('refs/heads/'.length), commit: parseCommitId(tip.commit) }];
}
