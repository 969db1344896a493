/**
 * An API server of Kubernetes for tests: pods of one namespace over HTTPS, with the paths, answers, watches and refusals of the real one, as
 * far as the executor and the {@link import('./kubelet.ts')} need them. What it takes and what it answers is judged by the types of Kubernetes' own
 * OpenAPI document (`schema.ts`). It keeps nothing.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { makeAuthority } from '../certificates.ts';
import { takeExec } from './exec-socket.ts';
import { kubeconfigOf, NAMESPACE, TOKEN } from './kubeconfig.ts';
import type { Kubelet } from './kubelet.ts';
import { type Pod, podOf } from './pod.ts';
import { failureOf, forbiddenTo, type Refusal, refuse, refuseSocket, sendJson } from './refusals.ts';
import { judged } from './schema.ts';

export interface FakeApiServer extends AsyncDisposable {
  readonly url: string;
  readonly kubeconfig: string;
  pods(): readonly Pod[];
  /** Paths of the requests that were refused for its mood, or their token. */
  refused(): readonly string[];
  /** Names of all that were created. */
  created(): readonly string[];
  /** What a namespace's quota allows; undefined: all. */
  limitPods(most: number | undefined): void;
  /**
   * `down`: 503 for everything. `silent`: connections are taken and nothing is answered. `starting`: it does not know rights yet. `mute`: it
   * creates what it is asked for, and the answer does not arrive.
   */
  be(mood: Mood): void;
  /** Takes a right from the executor; undefined: it has all. */
  forbid(right: Right | undefined): void;
  /** Deletes a pod, as the eviction of a machine does. */
  evict(name: string): void;
  /** Of changes: a watch of a version before now ends, as after a restart. */
  forget(): void;
  setStatus(name: string, status: Pod['status']): void;
  /** Ends all connections. */
  cut(): void;
  /** Of commands that are run, by its path on this machine. */
  use(kubelet: Kubelet): void;
}

type Mood = 'well' | 'down' | 'silent' | 'starting' | 'mute';
type Right = 'list' | 'exec';

type Watcher = (type: string, pod: Pod) => void;

/** Changes that a watch can begin with; the real server keeps some hundreds. */
const MOST_PAST = 100;

interface State {
  readonly pods: Map<string, Pod>;
  readonly watchers: Set<Watcher>;
  /** Oldest first. */
  readonly past: { readonly version: number; readonly type: string; readonly pod: Pod }[];
  readonly created: string[];
  readonly silenced: Set<Duplex>;
  version: number;
  readonly refused: string[];
  most: number | undefined;
  mood: Mood;
  forbidden: Right | undefined;
  kubelet: Kubelet | undefined;
}

export async function startApiServer(): Promise<FakeApiServer> {
  const authority = makeAuthority('kubernetes');
  const { cert, key } = authority.issue('api');
  const state: State = {
    ...{ pods: new Map(), watchers: new Set(), past: [], created: [], silenced: new Set() },
    ...{ version: 1, refused: [], most: undefined, mood: 'well', forbidden: undefined, kubelet: undefined },
  };
  const server = createServer({ cert, key }, (request, response) => void serve(state, request, response));
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'https://api');
    const [, name = ''] = /^\/api\/v1\/namespaces\/jobs\/pods\/([^/]+)\/exec$/.exec(pathname) ?? [];
    const refused = refusal(state, request) ?? execRefusal(state, name);
    if (refused !== undefined) return refuseSocket(socket, refused);
    if (state.kubelet === undefined) throw new Error('there is no kubelet');
    takeExec(request, socket, head, state.kubelet.startIn(name, searchParams));
  });
  const sockets = new Set<Duplex>();
  server.on('connection', socket => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    kubeconfig: kubeconfigOf(url, authority),
    pods: () => [...state.pods.values()],
    refused: () => state.refused,
    created: () => state.created,
    limitPods(most) {
      state.most = most;
    },
    be(mood) {
      state.mood = mood;
      if (mood === 'well') for (const socket of state.silenced) socket.destroy();
    },
    forbid(right) {
      state.forbidden = right;
    },
    evict: name => remove(state, name),
    setStatus(name, status) {
      const pod = state.pods.get(name);
      if (pod !== undefined) put(state, { ...pod, status: { ...pod.status, ...status } }, 'MODIFIED');
    },
    forget() {
      state.past.length = 0;
      state.version += 1;
    },
    cut() {
      for (const socket of sockets) socket.destroy();
    },
    use(kubelet) {
      state.kubelet = kubelet;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function refusal({ mood }: State, { headers }: IncomingMessage): Refusal | undefined {
  if (mood === 'down')
    return [503, 'ServiceUnavailable', 'the server is currently unable to handle the request'];
  if (mood === 'starting') return forbiddenTo('get', 'pods', NAMESPACE);
  return headers.authorization === `Bearer ${TOKEN}` ? undefined : [401, 'Unauthorized', 'Unauthorized'];
}

function execRefusal({ pods, forbidden }: State, name: string): Refusal | undefined {
  if (forbidden === 'exec') return forbiddenTo('create', 'pods/exec', NAMESPACE, name);
  const pod = pods.get(name);
  if (pod === undefined) return [404, 'NotFound', `pods "${name}" not found`];
  if (pod.spec.nodeName !== undefined) return undefined;
  return [400, 'BadRequest', `pod ${name} does not have a host assigned`];
}

async function serve(state: State, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (state.mood === 'silent') {
    state.silenced.add(response.socket as Duplex);
    return;
  }
  const body = await bodyOf(request);
  const refused = refusal(state, request);
  const { pathname, searchParams: query } = new URL(request.url ?? '', 'https://api');
  const [, namespace, name, below] =
    /^\/api\/v1\/namespaces\/([^/]+)\/pods(?:\/([^/]+))?(?:\/(binding|status))?$/.exec(pathname) ?? [];
  if (refused !== undefined) {
    state.refused.push(pathname);
    return refuse(response, refused);
  }
  if (namespace === undefined)
    return refuse(response, [404, 'NotFound', 'the server could not find the resource']);
  if (name === undefined && request.method === 'GET' && query.get('watch') === 'true')
    return watch(state, query, response);
  const answer = answerTo(state, request.method ?? '', { namespace, name, below, query }, body);
  if (state.mood === 'mute' && request.method === 'POST' && name === undefined) {
    state.silenced.add(response.socket as Duplex);
    return;
  }
  if (answer.length === 3) return refuse(response, answer);
  sendJson(response, answer[0], judged(answer[1]));
}

interface Asked {
  readonly namespace: string;
  readonly name: string | undefined;
  readonly below: string | undefined;
  readonly query: URLSearchParams;
}

type Answer = readonly [status: number, body: object] | Refusal;

function answerTo(
  state: State,
  method: string,
  { namespace, name, below, query }: Asked,
  body: unknown,
): Answer {
  if (name === undefined && method === 'GET' && state.forbidden === 'list')
    return forbiddenTo('list', 'pods', NAMESPACE);
  if (name === undefined) return method === 'POST' ? create(state, namespace, body) : listed(state, query);
  const pod = state.pods.get(name);
  if (pod === undefined) return [404, 'NotFound', `pods "${name}" not found`];
  if (below === 'binding') {
    const { target } = body as { readonly target: { readonly name: string } };
    const scheduled = { type: 'PodScheduled', status: 'True' };
    const status = { ...pod.status, conditions: [scheduled] };
    put(state, { ...pod, spec: { ...pod.spec, nodeName: target.name }, status }, 'MODIFIED');
    return [201, { apiVersion: 'v1', kind: 'Status', status: 'Success' }];
  }
  if (below === 'status') {
    const { status, metadata } = body as Pick<Pod, 'status' | 'metadata'>;
    if (metadata.resourceVersion !== pod.metadata.resourceVersion)
      return [
        409,
        'Conflict',
        `Operation cannot be fulfilled on pods "${name}": the object has been modified`,
      ];
    return [200, put(state, { ...pod, status: { ...pod.status, ...status } }, 'MODIFIED')];
  }
  if (method === 'DELETE') return deleted(state, pod, body);
  return [200, pod];
}

function create(state: State, namespace: string, body: unknown): Answer {
  if (namespace !== NAMESPACE) return forbiddenTo('create', 'pods', namespace);
  const { metadata, spec } = judged(body) as Pick<Pod, 'metadata' | 'spec'>;
  const { name } = metadata;
  if (state.pods.has(name)) return [409, 'AlreadyExists', `pods "${name}" already exists`];
  if (state.pods.size >= (state.most ?? Number.POSITIVE_INFINITY)) {
    const used = `requested: pods=1, used: pods=${state.pods.size}, limited: pods=${state.most}`;
    return [403, 'Forbidden', `pods "${name}" is forbidden: exceeded quota: few, ${used}`];
  }
  state.created.push(name);
  return [201, put(state, podOf(metadata, spec, { uid: randomUUID(), namespace }), 'ADDED')];
}

function listed({ pods, version }: State, query: URLSearchParams): Answer {
  const [label = '', value] = (query.get('labelSelector') ?? '').split('=');
  const found = [...pods.values()].filter(
    ({ metadata }) => value === undefined || metadata.labels?.[label] === value,
  );
  const from = Number(query.get('continue') ?? 0);
  const to = from + Number(query.get('limit') ?? found.length);
  const metadata = {
    resourceVersion: String(version),
    ...(to < found.length ? { continue: String(to) } : {}),
  };
  return [200, { apiVersion: 'v1', kind: 'PodList', metadata, items: found.slice(from, to) }];
}

function deleted(state: State, pod: Pod, body: unknown): Answer {
  const { preconditions } = judged(body) as { readonly preconditions?: { readonly uid?: string } };
  const { name, uid } = pod.metadata;
  if (preconditions?.uid !== undefined && preconditions.uid !== uid) {
    const uids = `the UID in the precondition (${preconditions.uid}) does not match the UID in record (${uid})`;
    const message = `Operation cannot be fulfilled on Pod "${name}": ${uids}`;
    return [409, 'Conflict', `${message}. The object might have been deleted and then recreated`];
  }
  remove(state, name);
  return [200, pod];
}

function put(state: State, pod: Pod, type: string): Pod {
  const metadata = { ...pod.metadata, resourceVersion: String(++state.version) };
  const next = { ...pod, metadata };
  state.pods.set(metadata.name, next);
  note(state, type, next);
  return next;
}

function note({ past, version, watchers }: State, type: string, pod: Pod): void {
  past.push({ version, type, pod });
  if (past.length > MOST_PAST) past.shift();
  for (const notify of watchers) notify(type, pod);
}

function remove(state: State, name: string): void {
  const pod = state.pods.get(name);
  if (pod === undefined) return;
  const deletionTimestamp = new Date().toISOString();
  put(state, { ...pod, metadata: { ...pod.metadata, deletionTimestamp } }, 'MODIFIED');
  state.pods.delete(name);
  state.version += 1;
  state.kubelet?.end(name);
  note(state, 'DELETED', {
    ...pod,
    metadata: { ...pod.metadata, resourceVersion: String(state.version) },
  });
}

/** From a version on, as far as what came after it is still known; a reader with an older one reads again. Without one from what is there. */
function watch(state: State, query: URLSearchParams, response: ServerResponse): void {
  const wanted = /^metadata\.name=(.+)$/.exec(query.get('fieldSelector') ?? '')?.[1];
  response.writeHead(200, { 'content-type': 'application/json' });
  const from = Number(query.get('resourceVersion') ?? 0);
  // What comes next is known, too.
  const oldest = state.past[0]?.version ?? state.version + 1;
  if (from !== 0 && from < oldest - 1) {
    const message = `too old resource version: ${from} (${oldest})`;
    response.end(`${JSON.stringify({ type: 'ERROR', object: failureOf([410, 'Expired', message]) })}\n`);
    return;
  }
  response.flushHeaders();
  const notify: Watcher = (type, pod) => {
    if (wanted !== undefined && pod.metadata.name !== wanted) return;
    response.write(`${JSON.stringify({ type, object: judged(pod) })}\n`);
  };
  if (from === 0) for (const pod of state.pods.values()) notify('ADDED', pod);
  else for (const { version, type, pod } of state.past) if (version > from) notify(type, pod);
  state.watchers.add(notify);
  const late = setTimeout(() => response.end(), Number(query.get('timeoutSeconds') ?? 60) * 1000);
  response.on('close', () => {
    clearTimeout(late);
    state.watchers.delete(notify);
  });
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  return parts.length === 0 ? undefined : JSON.parse(Buffer.concat(parts).toString('utf8'));
}
