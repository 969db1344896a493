/** A change and its branch as Gerrit has them directly before and after a landing. */
import { isMapping } from '../../../src/driver/read-mapping.ts';
import type { Json } from '../../../src/model/job.ts';
import { shortCommit } from '../../../src/model/project.ts';
import { choiceOf, mappingsOf, pairsOf, textOf, wholeOf } from '../api/info-json.ts';
import type { GerritAnswer } from '../api/port.ts';
import type { GerritLandingContext } from './landing-context.ts';

/** A change, as far as a landing looks at it. */
export interface GerritChangeNow {
  readonly status: 'NEW' | 'MERGED' | 'ABANDONED';
  readonly branch: string;
  /** Commit of the current patch set: after a merge it may be one that Gerrit made. */
  readonly revision: string;
  readonly isWip: boolean;
  /** By its votes and rules; null: Gerrit does not say. */
  readonly submittable: boolean | null;
  /** All that are not 0. */
  readonly votes: readonly { readonly account: number; readonly label: string; readonly value: number }[];
}

/** The change and its branch. */
export interface GerritLandingNow extends GerritChangeNow {
  /** Commit of the branch that was tested; null: the branch is gone. */
  readonly tip: string | null;
}

type Context = Pick<GerritLandingContext, 'api' | 'call' | 'change' | 'project'>;

/** Two requests at a time. `refused` with 404: the change is not shown, though its project is. */
export async function readGerritLandingNow(context: Context): Promise<GerritAnswer<GerritLandingNow>> {
  const [change, tip] = await Promise.all([readChangeNow(context), readTip(context)]);
  if (change.kind !== 'ok' && change.kind !== 'refused') return change;
  if (tip.kind !== 'ok') return tip.kind === 'refused' ? notShown(tip.text) : tip;
  if (change.kind === 'refused') return tip.data === null ? notShown(change.text) : change;
  return { ...change, data: { ...change.data, tip: tip.data } };
}

/** Access to the project was lost, which is no verdict on the change. */
function notShown(text: string): GerritAnswer<never> {
  return { kind: 'later', later: { reason: 'denied', text: `Gerrit does not show the project: ${text}` } };
}

/** One request. */
export async function readChangeNow({
  api,
  call,
  change,
}: Pick<Context, 'api' | 'call' | 'change'>): Promise<GerritAnswer<GerritChangeNow>> {
  const answer = await api.ask(
    {
      operation: 'changes/detail',
      method: 'GET',
      path: `changes/${change.id}/detail?o=CURRENT_REVISION&o=SUBMITTABLE`,
    },
    call,
  );
  if (answer.kind !== 'ok') return answer;
  const info = isMapping(answer.data) ? answer.data : {};
  const status = choiceOf(info.status, ['NEW', 'MERGED', 'ABANDONED']);
  const branch = textOf(info.branch, 1_000);
  const revision = textOf(info.current_revision, 64);
  if (status === null || branch === null || revision === null) return strange('the change');
  const data = {
    status,
    branch,
    revision,
    isWip: info.work_in_progress === true,
    submittable: typeof info.submittable === 'boolean' ? info.submittable : null,
    votes: votesIn(info.labels),
  };
  return { ...answer, data };
}

const MOST_LABELS = 100;
const MOST_VOTES = 1_000;

function votesIn(labels: Json | undefined): GerritLandingNow['votes'] {
  return pairsOf(labels, MOST_LABELS).flatMap(([label, info]) =>
    mappingsOf(isMapping(info) ? info.all : undefined, MOST_VOTES).flatMap(vote => {
      const account = wholeOf(vote._account_id);
      const value = wholeOf(vote.value) ?? 0;
      return account === null || value === 0 ? [] : [{ account, label, value }];
    }),
  );
}

async function readTip({ api, call, change, project }: Context): Promise<GerritAnswer<string | null>> {
  const branches = `projects/${encodeURIComponent(project)}/branches`;
  const answer = await api.ask(
    {
      operation: 'projects/branch',
      method: 'GET',
      path: `${branches}/${encodeURIComponent(change.branch)}`,
    },
    call,
  );
  if (answer.kind === 'refused' && answer.status === 404) return { kind: 'ok', status: 404, data: null };
  if (answer.kind !== 'ok') return answer;
  const revision = isMapping(answer.data) ? textOf(answer.data.revision, 64) : null;
  return revision === null || !/^[0-9a-f]{40,64}$/.test(revision)
    ? strange('the branch')
    : { ...answer, data: revision };
}

function strange(what: string): GerritAnswer<never> {
  return { kind: 'later', later: { reason: 'other', text: `what Gerrit says of ${what} cannot be read` } };
}

/** Why the change must not be submitted, by what was read; undefined: nothing speaks against it. */
export function changeObstacle(
  { status, branch, revision, isWip }: GerritChangeNow,
  { change }: Pick<GerritLandingContext, 'change'>,
): string | undefined {
  if (status === 'ABANDONED') return 'the change is abandoned';
  if (branch !== change.branch) return `the change is for ${branch} now, tested was ${change.branch}`;
  if (revision !== change.commit)
    return `the current patch set is ${revision.slice(0, 8)}, tested was ${shortCommit(change.commit)}`;
  return isWip ? 'the change is work in progress' : undefined;
}
