/** Branches and tags of a project, as git lists them over SSH. A project that is not shown is trouble of access, never a missing branch. */
import type { RemoteRefs } from '../../../../src/git/remote/remote-refs.ts';
import type { GerritCarried } from '../carrier.ts';
import type { JsonMapping } from '../info-json.ts';
import type { GerritRaw } from '../send.ts';
import { served } from './read-queried.ts';
import type { SshAsked, SshCarrierDeps } from './ssh-asked.ts';
import { refusedOverSsh } from './ssh-refused.ts';

/** `projects/P`, and `projects/P/config`, of which SSH shows nothing but that there is the project. */
export async function readProjectShown(
  { parts, signal }: SshAsked,
  deps: SshCarrierDeps,
): Promise<GerritCarried> {
  const [name = ''] = parts;
  const listed = await refsOf(name, ['refs/heads/'], deps, signal);
  return listed.kind === 'refs' ? served({ name }, NO_BYTES) : listed;
}

/** `projects/P/branches/?n=…&S=…` */
export async function listProjectBranches(
  { parts, query, signal }: SshAsked,
  deps: SshCarrierDeps,
): Promise<GerritCarried> {
  const listed = await refsOf(parts[0] ?? '', ['refs/heads/'], deps, signal);
  if (listed.kind !== 'refs') return listed;
  const start = Number(query.get('S') ?? 0);
  const most = query.get('n');
  const branches = [...listed.refs]
    .map(([ref, revision]): JsonMapping => ({ ref, revision }))
    .slice(start, most === null ? undefined : start + Number(most));
  return served(branches, NO_BYTES);
}

/** `projects/P/branches/B` */
export async function readProjectBranch(asked: SshAsked, deps: SshCarrierDeps): Promise<GerritCarried> {
  return await readRef('refs/heads/', asked, deps);
}

/** `projects/P/tags/T` */
export async function readProjectTag(asked: SshAsked, deps: SshCarrierDeps): Promise<GerritCarried> {
  return await readRef('refs/tags/', asked, deps);
}

async function readRef(
  prefix: string,
  { parts, signal }: SshAsked,
  deps: SshCarrierDeps,
): Promise<GerritCarried> {
  const [project = '', name = ''] = parts;
  const wanted = `${prefix}${name}`;
  const listed = await refsOf(project, [wanted], deps, signal);
  if (listed.kind !== 'refs') return listed;
  const found = [...listed.refs].find(([ref]) => ref === wanted);
  if (found === undefined) return refusedOverSsh(404, `Not found: ${name}`);
  const [ref, revision] = found;
  const object = listed.peeled?.get(ref);
  return served({ ref, revision, ...(object === undefined ? {} : { object }) }, NO_BYTES);
}

/** git does not count them. */
const NO_BYTES = { bytes: 0 };

async function refsOf(
  project: string,
  prefixes: readonly string[],
  { listRefs }: SshCarrierDeps,
  signal: AbortSignal,
): Promise<RemoteRefs | GerritRaw> {
  const listed = await listRefs(project, prefixes);
  signal.throwIfAborted();
  if (listed.kind === 'refs') return listed;
  return { kind: 'silent', reason: listed.reason, text: listed.message, isSent: true };
}
