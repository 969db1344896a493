import { isObjectId, type ObjectId } from '../objects/object-id.ts';
import { isRefName, type RefName } from '../objects/ref-name.ts';
import type { Git } from '../process/git.ts';
import type { Remote } from '../process/remote.ts';
import { type RemoteFailure, refusedUrl, remoteFailure } from '../process/remote-failure.ts';
import { readLocalRefs } from './local-refs.ts';
import type { LooseRefs } from './loose-refs.ts';

/** The refs of a remote at one moment. */
export interface RemoteRefs {
  readonly kind: 'refs';
  readonly refs: ReadonlyMap<RefName, ObjectId>;
  /** What annotated tags among them mark; absent: there are none. */
  readonly peeled?: ReadonlyMap<RefName, ObjectId>;
  /** Branch `HEAD` points at, where the remote says so and all refs were asked for. */
  readonly head?: RefName;
}

/**
 * Lists a remote's refs, one round trip (`git ls-remote`); those of a repository on this machine's disk are read without a process
 * where that is plain to do (`local-refs.ts`). Refs with names that git refuses, or that are not UTF-8, are omitted:
 * git could not use them.
 *
 * @param prefixes only refs that begin with one of these; empty: all, and `HEAD`. Prefixes below `refs/heads/` and `refs/tags/`
 *   keep the rest from being sent at all.
 * @param files see {@link readLocalRefs}.
 */
export async function lsRemote(
  git: Git,
  remote: Remote,
  prefixes: readonly string[] = [],
  files?: LooseRefs,
): Promise<RemoteRefs | RemoteFailure> {
  const refused = refusedUrl(remote, git.protocols);
  if (refused !== undefined) return refused;
  const local = await readLocalRefs(remote, prefixes, files);
  if (local !== undefined) return { kind: 'refs', refs: local };
  const result = await git.run(
    ['ls-remote', '--quiet', '--symref', ...narrowed(prefixes), '--end-of-options', remote.url],
    { remote },
  );
  if (result.kind !== 'ok') return remoteFailure(result);
  return parseRefs(result.stdout, prefixes);
}

function narrowed(prefixes: readonly string[]): string[] {
  const heads = prefixes.some(prefix => prefix.startsWith('refs/heads/'));
  const tags = prefixes.some(prefix => prefix.startsWith('refs/tags/'));
  if (prefixes.length === 0 || !prefixes.every(prefix => /^refs\/(heads|tags)\//.test(prefix))) return [];
  return [...(heads ? ['--heads'] : []), ...(tags ? ['--tags'] : [])];
}

/** Lines are `<id> TAB <ref>`, `ref: <ref> TAB HEAD`, and `<id> TAB <tag>^{}` for the target of an annotated tag. */
function parseRefs(output: Buffer, prefixes: readonly string[]): RemoteRefs {
  const refs = new Map<RefName, ObjectId>();
  const peeled = new Map<RefName, ObjectId>();
  let head: RefName | undefined;
  for (const line of output.toString('utf8').split('\n')) {
    const [value = '', name = ''] = line.split('\t');
    const target = value.startsWith('ref: ') ? value.slice(5) : '';
    if (name === 'HEAD' && isRefName(target)) head = target;
    const wanted = prefixes.length === 0 || prefixes.some(prefix => name.startsWith(prefix));
    const ref = name.replace(/\^\{\}$/, '');
    if (!wanted || !isObjectId(value) || !isRefName(ref) || ref.includes('\ufffd')) continue;
    if (ref === name) refs.set(ref, value);
    else peeled.set(ref, value);
  }
  return {
    kind: 'refs',
    refs,
    ...(peeled.size === 0 ? {} : { peeled }),
    ...(head === undefined ? {} : { head }),
  };
}
