/** Reads a branch or tag at Gerrit. */
import { isMapping } from '../../../src/driver/read-mapping.ts';
import type { GerritAnswer, GerritApi, GerritCall } from '../api/port.ts';
import type { GerritRefFacts } from '../facts.ts';

/** Where a ref points; null: there is no such ref. */
export type GerritTip = {
  /** As git lists it: of an annotated tag the tag object. */
  readonly object: string;
  readonly commit: string;
} | null;

/** Of the index of remembered tips. @param project its name at Gerrit. */
export function refIndexPrefix(project: string): string {
  return `refs/${project}`;
}

/** @param ref `refs/heads/…` or `refs/tags/…`. A project that is not shown is refused. */
export async function readGerritTip(
  ref: string,
  call: GerritCall,
  api: GerritApi,
): Promise<GerritAnswer<GerritTip>> {
  const kind = ref.startsWith('refs/heads/') ? 'branches' : 'tags';
  const name = ref.replace(/^refs\/(heads|tags)\//, '');
  const path = `projects/${encodeURIComponent(call.project)}/${kind}/${encodeURIComponent(name)}`;
  const answer = await api.ask({ operation: `projects/${kind}`, method: 'GET', path }, call);
  if (answer.kind === 'ok') return { ...answer, data: tipOf(answer.data) };
  if (answer.kind !== 'refused' || answer.status !== 404) return answer;
  const visible = await isProjectVisible(call.project, call, api);
  return visible.kind === 'ok' ? { ...visible, data: null } : visible;
}

/** `ok`: it is; `refused`: it is not. */
export async function isProjectVisible(
  project: string,
  call: GerritCall,
  api: GerritApi,
): Promise<GerritAnswer<null>> {
  const path = `projects/${encodeURIComponent(project)}`;
  const answer = await api.ask({ operation: 'projects/get', method: 'GET', path }, call);
  return answer.kind === 'ok' ? { ...answer, data: null } : answer;
}

/** Of an annotated tag, `object` is what it marks. */
export function tipOf(info: Parameters<typeof isMapping>[0]): GerritTip {
  if (!isMapping(info) || !isCommit(info.revision)) return null;
  return { object: info.revision, commit: isCommit(info.object) ? info.object : info.revision };
}

function isCommit(value: unknown): value is string {
  return typeof value === 'string' && /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(value);
}

/** Of the record of every ref update. */
export const REF_FACTS: { readonly kind: GerritRefFacts['kind'] } = { kind: 'ref' };
