/**
 * Answers executors that ask for read access to a repository: `doc/decisions/0071-executors-borrow-read-access.md`. Only the holder
 * of the connection does, so that one process at a time asks the code host.
 */
import type { Connection } from '../../driver/connection.ts';
import { findRemote } from '../../driver/find-remote.ts';
import { aborted } from '../../lib/aborted.ts';
import type { Log } from '../../lib/log.ts';
import { sealText } from '../../lib/sealed-text.ts';
import { type AccessRequest, accessContext } from '../../model/access-request.ts';
import type { BuildRequest } from '../../model/build-request.ts';
import { accessRequestCodec, buildRequestCodec } from '../../model/codec/records.ts';
import type { ProjectKey } from '../../model/project.ts';
import { isOutOfContact, withRetry } from '../../store/connection.ts';
import type { StorePaths } from '../../store/paths.ts';
import { type Store, type StoredNode, StoreError, set } from '../../store/port.ts';
import { readNow } from '../../store/read-now.ts';
import { createPathRefresher } from '../../store/refresher.ts';
import { RequestQueue } from '../../store/request-queue.ts';
import { isReadable } from '../../store/stored-request.ts';

/** `connection`: one with credentials of its own. */
export interface LendDeps {
  readonly connection: Pick<Connection, 'name' | 'remote'>;
  readonly store: Store;
  readonly paths: StorePaths;
  readonly log: Pick<Log, 'warn'>;
}

/** Requests answered at a time; the others wait in the store. */
const MOST = 20;

type Asked = Extract<AccessRequest, { state: 'asked' }>;

/** Until aborted. */
export async function lendAccess(deps: LendDeps, signal: AbortSignal): Promise<void> {
  const { store, paths, connection, log } = deps;
  const base = paths.accessRequests(connection.name);
  /** Names of requests that are being answered, or were. */
  const seen = new Set<string>();
  let underway = 0;
  const warn = (error: unknown, text: string) => {
    if (!signal.aborted && !isOutOfContact(error))
      log.warn({ connection: connection.name, err: error }, text);
  };

  async function serve(name: string): Promise<void> {
    underway += 1;
    try {
      await answer(deps, `${base}/${name}`);
    } catch (error) {
      warn(error, 'a request for access to a repository cannot be answered');
    } finally {
      underway -= 1;
      void waiting.touch();
    }
  }

  using waiting = createPathRefresher(
    store,
    base,
    async () => {
      const names = (await readNow(store, () => store.children(base), signal)) ?? [];
      const there = new Set(names);
      for (const name of seen) if (!there.has(name)) seen.delete(name);
      for (const name of names) {
        if (underway >= MOST) return;
        if (seen.has(name)) continue;
        seen.add(name);
        void serve(name);
      }
    },
    { onError: error => warn(error, 'requests for access to repositories cannot be read') },
  );
  void waiting.touch();
  await aborted(signal);
}

async function answer(deps: LendDeps, path: string): Promise<void> {
  const { store, log, connection } = deps;
  const node = await readNow(store, () => store.get(path));
  const request = node && accessRequestCodec.decode(node.data);
  if (node === undefined || request?.state !== 'asked') return;
  const found = await answerTo(deps, path, request, node);
  if (found.state === 'refused') {
    const { build, project } = request;
    log.warn(
      { connection: connection.name, build, project, reason: found.text },
      'refused access to a repository',
    );
  }
  try {
    const written = set(path, accessRequestCodec.encode(found), node.stat.version);
    await withRetry(
      store,
      () => store.multi([written]),
      async () => (await store.get(path))?.stat.version !== node.stat.version,
    );
  } catch (error) {
    // Its executor no longer waits, or the former holder of the connection was first.
    if (!(error instanceof StoreError && ['NoNode', 'BadVersion'].includes(error.code))) throw error;
  }
}

async function answerTo(
  deps: LendDeps,
  path: string,
  request: Asked,
  { stat }: StoredNode,
): Promise<Exclude<AccessRequest, Asked>> {
  const { connection } = deps;
  const { project } = request;
  const objection = await objectionTo(deps, request, stat.ephemeralOwner);
  if (objection !== undefined) return refused(objection);
  const remote = await findRemote(new Map([[connection.name, connection]]))(project);
  if ('trouble' in remote)
    return { state: 'refused', reason: remote.trouble.reason, text: remote.trouble.text };
  if (remote.lendable !== true || remote.headers === undefined)
    return refused(
      `connection ${connection.name} lends no access, because its scheduler has credentials that open more than one repository: give the executor credentials of its own`,
    );
  const sealed = sealText(JSON.stringify(remote.headers), request.publicKey, accessContext(path, project));
  return sealed === undefined ? refused('the key of the request is none') : { state: 'lent', sealed };
}

function refused(text: string): Exclude<AccessRequest, Asked> {
  return { state: 'refused', reason: 'denied', text };
}

/** @param owner session that made the request, as the store knows it. @returns undefined: it may have what it asks for. */
async function objectionTo(
  { store, paths }: LendDeps,
  { build, project }: Asked,
  owner: string | undefined,
): Promise<string | undefined> {
  const queue = new RequestQueue({ store, path: paths.requests('build'), codec: buildRequestCodec });
  const claim = await readNow(store, () => store.get(queue.claimPath(build)));
  if (owner === undefined || claim?.stat.ephemeralOwner !== owner)
    return `build ${build} is not held by the process that asks`;
  const path = (await readNow(store, () => queue.pathsOf([build]))).get(build);
  const name = path?.slice(queue.queuePath.length + 1);
  const [request] = name === undefined ? [] : await readNow(store, () => queue.read([name]));
  if (request === undefined || !isReadable(request)) return `build ${build} has no request that can be read`;
  return projectsOf(request.value).has(project) ? undefined : `${project} is no project of build ${build}`;
}

/** All that an executor fetches for the build. */
function projectsOf({ projects, playbooks, roles = [] }: BuildRequest): ReadonlySet<ProjectKey> {
  const { preRun, run, postRun } = playbooks;
  return new Set([...projects, ...preRun, ...run, ...postRun, ...roles].map(({ project }) => project));
}
