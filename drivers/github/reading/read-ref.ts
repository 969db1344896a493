/** Reads a branch or tag at GitHub, and builds the change that its update is. */
import { HostAway } from '../../../src/driver/host-away.ts';
import { refUpdate, refUpdateRecord } from '../../../src/driver/ref-update.ts';
import type { ChangeRecord, RefUpdate } from '../../../src/model/change.ts';
import type { BranchName, ProjectKey } from '../../../src/model/project.ts';
import type { GithubCall } from '../api/port.ts';
import type { RefFacts } from '../facts.ts';
import { movedText } from '../repository-names.ts';
import type { GithubProcessDeps } from './processing.ts';
import {
  MARKED_COMMIT,
  type MarkedCommitAnswer,
  type MarkedObject,
  REF_STATE,
  type RefStateAnswer,
} from './query/ref-state.ts';
import { type Unread, unread } from './unread.ts';

/** Where a ref points; null: there is no such ref. */
export type RefTip = {
  /** As listed: of an annotated tag the tag object. */
  readonly object: string;
  readonly commit: string;
  readonly tree?: string;
} | null;

/** What a read of a ref came to. `gone`: GitHub does not show the repository under this name. */
export type TipRead = { readonly kind: 'read'; readonly tip: RefTip } | Unread;

/** @param ref its full name. */
export async function readGithubTip(
  ref: string,
  call: GithubCall,
  { api, named }: Pick<GithubProcessDeps, 'api' | 'named'>,
): Promise<TipRead> {
  const [owner = '', name = ''] = call.repository.split('/');
  const answer = await api.graphql<RefStateAnswer>('ref-state', REF_STATE, { owner, name, ref }, call);
  if (answer.kind !== 'ok') return unread(answer, `repository ${call.repository}`);
  if (answer.data.repository === null)
    return { kind: 'gone', text: `GitHub shows no repository ${call.repository}` };
  const { nameWithOwner, ref: found } = answer.data.repository;
  named?.(call.repository, nameWithOwner);
  if (nameWithOwner.toLowerCase() !== call.repository.toLowerCase())
    return { kind: 'gone', text: movedText(call.repository, nameWithOwner) };
  return { kind: 'read', tip: tipOf(found) };
}

/**
 * The commit that a tag marked before it was moved or deleted.
 *
 * @param object its id as GitHub names it: of an annotated tag the tag object. @returns it as it is where GitHub does not have it any more.
 */
export async function readMarkedCommit(
  object: string,
  call: GithubCall,
  { api }: Pick<GithubProcessDeps, 'api'>,
): Promise<{ readonly kind: 'read'; readonly commit: string } | Unread> {
  const [owner = '', name = ''] = call.repository.split('/');
  const variables = { owner, name, object };
  const answer = await api.graphql<MarkedCommitAnswer>('marked-commit', MARKED_COMMIT, variables, call);
  if (answer.kind !== 'ok') return unread(answer, `repository ${call.repository}`);
  const found = answer.data.repository?.object ?? null;
  return { kind: 'read', commit: found === null ? object : markedBy(found) };
}

/** A ref update can be read as long as the ref is where it went; where it came from is not known any more. @throws HostAway */
export async function fetchGithubRef(
  {
    project,
    ref,
    commit,
  }: { readonly project: ProjectKey; readonly ref: string; readonly commit: string | null },
  call: GithubCall,
  deps: Pick<GithubProcessDeps, 'api' | 'clock'>,
): Promise<ChangeRecord | undefined> {
  const read = await readGithubTip(ref, call, deps);
  if (read.kind === 'later') throw new HostAway(read.later);
  if (read.kind === 'gone' || (read.tip?.commit ?? null) !== commit) return undefined;
  return refUpdateRecord(githubRefUpdate(project, ref, null, commit), REF_UPDATE_FACTS, deps.clock.now());
}

function tipOf(ref: NonNullable<RefStateAnswer['repository']>['ref']): RefTip {
  const target = ref?.target;
  if (target === undefined || target === null) return null;
  const tree = target.tree === undefined ? {} : { tree: target.tree.oid };
  return { object: target.oid, commit: markedBy(target), ...tree };
}

function markedBy(object: MarkedObject): string {
  let marked = object;
  while (marked.target !== undefined) marked = marked.target;
  return marked.oid;
}

/** Of a group of GitHub's merge queue, the branch that it will land on. */
const GROUP = /^refs\/heads\/gh-readonly-queue\/(.+)\/pr-\d+-[0-9a-f]+$/;

/** @param after null: deleted. @param target of a merge group; absent: as its name says. @param tree of `after`. */
export function githubRefUpdate(
  project: ProjectKey,
  ref: string,
  before: string | null,
  after: string | null,
  target: BranchName | undefined = GROUP.exec(ref)?.[1],
  tree?: string,
): RefUpdate {
  return refUpdate(project, {
    ...{ ref, before, after },
    ...(target === undefined ? {} : { targetBranch: target }),
    ...(tree === undefined ? {} : { tree }),
  });
}

/** Of the record of every ref update. */
export const REF_UPDATE_FACTS: { readonly kind: RefFacts['kind'] } = { kind: 'ref' };
