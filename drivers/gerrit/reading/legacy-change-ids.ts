/**
 * Legacy footers `Depends-On: I…`. A Change-Id names every change that has it, one on each branch: as in Zuul all open ones are
 * dependencies, and merged ones are none any more.
 */
import { type ChangeKey, changeKey } from '../../../src/model/change.ts';
import { type ConnectionName, type ProjectKey, projectKey } from '../../../src/model/project.ts';
import { mappingsOf, textOf, wholeOf } from '../api/info-json.ts';
import type { GerritAnswer, GerritApi, GerritCall } from '../api/port.ts';
import { isChangeId } from './depends-on-footers.ts';

/** Footers of one commit that Gerrit is asked about, and changes of one Change-Id. */
const MOST_FOOTERS = 20;
const MOST_CHANGES = 50;

/** A change that has the Change-Id. */
interface NamedByChangeId {
  readonly key: ChangeKey;
  readonly project: ProjectKey;
  readonly isOpen: boolean;
  readonly isMerged: boolean;
}

/** What footers name. */
export interface NamedByFooters {
  readonly named: readonly ChangeKey[];
  /** Values that name no change of this connection's projects. */
  readonly lines: readonly string[];
}

/** Where to ask. */
export interface ChangeIdDeps {
  readonly api: GerritApi;
  readonly connection: ConnectionName;
}

/**
 * @param values of all `Depends-On` footers; those that are no Change-Ids stay in `lines`.
 * @param projects those any tenant has; undefined: not known yet, any counts.
 */
export async function resolveChangeIds(
  values: readonly string[],
  projects: ReadonlySet<ProjectKey> | undefined,
  call: GerritCall,
  deps: ChangeIdDeps,
): Promise<GerritAnswer<NamedByFooters>> {
  const legacy = values.filter(isChangeId).slice(0, MOST_FOOTERS);
  const named: ChangeKey[] = [];
  const found = new Set<string>();
  for (const value of legacy) {
    const answer = await changesOfId(value, call, deps);
    if (answer.kind !== 'ok') return answer;
    const known = answer.data.filter(({ project }) => projects?.has(project) ?? true);
    named.push(...known.filter(({ isOpen }) => isOpen).map(({ key }) => key));
    if (known.some(({ isOpen, isMerged }) => isOpen || isMerged)) found.add(value);
  }
  return { kind: 'ok', status: 200, data: { named, lines: values.filter(value => !found.has(value)) } };
}

/** The one change that a Change-Id names from another connection: the only open one, or without one the only merged one. */
export async function changeOfId(
  value: string,
  projects: ReadonlySet<ProjectKey>,
  call: GerritCall,
  deps: ChangeIdDeps,
): Promise<GerritAnswer<ChangeKey | undefined>> {
  const answer = await changesOfId(value, call, deps);
  if (answer.kind !== 'ok') return answer;
  const known = answer.data.filter(({ project }) => projects.has(project));
  const open = known.filter(({ isOpen }) => isOpen);
  const candidates = open.length > 0 ? open : known.filter(({ isMerged }) => isMerged);
  return { ...answer, data: candidates.length === 1 ? candidates[0]?.key : undefined };
}

async function changesOfId(
  value: string,
  call: GerritCall,
  { api, connection }: ChangeIdDeps,
): Promise<GerritAnswer<readonly NamedByChangeId[]>> {
  // Gerrit writes the first letter large and the digits small.
  const path = `changes/?q=change:I${value.slice(1).toLowerCase()}&n=${MOST_CHANGES}`;
  const answer = await api.ask({ operation: 'changes/query', method: 'GET', path }, call);
  if (answer.kind !== 'ok') return answer;
  const changes = mappingsOf(answer.data, MOST_CHANGES).flatMap((change): readonly NamedByChangeId[] => {
    const number = wholeOf(change._number);
    const name = textOf(change.project, 500);
    if (number === null || name === null) return [];
    const project = projectKey({ connection, name });
    const key = changeKey(project, String(number));
    return [{ key, project, isOpen: change.status === 'NEW', isMerged: change.status === 'MERGED' }];
  });
  return { ...answer, data: changes };
}
