/**
 * The API server of one provider: requests, watches, and commands in pods.
 *
 *     const clients = createKubeClients();
 *     const opened = await clients.open(pool);
 *     if (opened.kind === 'trouble') …                      // its kubeconfig cannot be read
 *     const answer = await opened.client.call('GET', `${podsPath(opened.client)}/one`);
 *
 * What is on the other side is not trusted to answer: each call ends within {@link CALL_MS}, with one of three kinds of answers.
 * `@kubernetes/client-node` knows how to authenticate; it is loaded with the first client, for it is large.
 */
import { stat } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import https, { type RequestOptions } from 'node:https';
import { cutLine } from '../../lib/cut-text.ts';
import { nodeHttp } from '../../lib/node-http.ts';
import type { KubernetesPool } from '../../model/kubernetes-pool.ts';

/** `refused`: the server does not want this request. `trouble`: it was not reached, took too long, or does not know who we are. */
export type KubeAnswer =
  | { readonly kind: 'done'; readonly body: unknown }
  | ({ readonly kind: 'refused' } & KubeRefusal)
  | KubeTrouble;

interface KubeRefusal {
  readonly status: number;
  /** Word of the API, such as `AlreadyExists`. */
  readonly reason: string;
  /** One line for people. */
  readonly message: string;
}

/** `reason`: one line for people. */
export interface KubeTrouble {
  readonly kind: 'trouble';
  readonly reason: string;
}

export interface KubeClient {
  readonly namespace: string;
  /** @param query values are encoded. */
  call(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    options?: { readonly query?: Query; readonly body?: object; readonly signal?: AbortSignal },
  ): Promise<KubeAnswer>;
  /** Ends with the connection, at the latest after {@link WATCH_SECONDS}; the caller reads again and watches on. */
  watch(
    path: string,
    query: Query,
    signal: AbortSignal,
    onEvent: (event: KubeEvent) => void,
  ): Promise<KubeAnswer>;
  /** Where a WebSocket to the path connects, and with what. @throws Error of the authentication. */
  socketTo(path: string): Promise<{ readonly url: string; readonly options: RequestOptions }>;
}

interface KubeEvent {
  /** `ADDED`, `MODIFIED`, `DELETED`, `BOOKMARK` or `ERROR`. */
  readonly type: string;
  readonly object: unknown;
}

type Query = { readonly [name: string]: string | number };

/** Milliseconds for a whole answer. */
const CALL_MS = 15_000;
/** The server ends a watch after these. */
const WATCH_SECONDS = 60;
const MOST_BYTES = 32 * 1024 * 1024;
const LONGEST_REASON = 400;

/** What `KubeConfig` offers of itself here. */
type Config = import('@kubernetes/client-node').KubeConfig;

export interface KubeClients {
  /** Reads the kubeconfig again where it has changed. */
  open(
    pool: Pick<KubernetesPool, 'kubeconfig' | 'context' | 'namespace'>,
  ): Promise<{ readonly kind: 'open'; readonly client: KubeClient } | KubeTrouble>;
}

export function createKubeClients(): KubeClients {
  const known = new Map<string, { readonly changed: number; readonly client: KubeClient }>();
  return {
    async open({ kubeconfig, context, namespace }) {
      const key = JSON.stringify([kubeconfig, context, namespace]);
      try {
        const changed = kubeconfig === undefined ? 0 : (await stat(kubeconfig)).mtimeMs;
        const before = known.get(key);
        if (before?.changed === changed) return { kind: 'open', client: before.client };
        const config = await readConfig(kubeconfig, context);
        const ofContext = config.getContextObject(config.getCurrentContext())?.namespace;
        const client = kubeClient(config, namespace ?? ofContext ?? 'default');
        known.set(key, { changed, client });
        return { kind: 'open', client };
      } catch (error) {
        return troubleOf(error);
      }
    },
  };
}

/** @throws Error that names what is wrong, and nothing secret. */
async function readConfig(kubeconfig: string | undefined, context: string | undefined): Promise<Config> {
  const { KubeConfig } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  if (kubeconfig === undefined) {
    if (process.env.KUBERNETES_SERVICE_HOST === undefined)
      throw new Error('the provider names no kubeconfig, and the executor runs in no pod');
    config.loadFromCluster();
  } else {
    try {
      config.loadFromFile(kubeconfig);
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? `: ${String(error.code)}` : '';
      throw new Error(`kubeconfig ${kubeconfig} cannot be read${code}`, { cause: error });
    }
  }
  if (context !== undefined) config.setCurrentContext(context);
  if (config.getCurrentCluster() === null)
    throw new Error(
      `kubeconfig ${kubeconfig ?? ''} has no context ${context ?? config.getCurrentContext() ?? ''}`,
    );
  return config;
}

function kubeClient(config: Config, namespace: string): KubeClient {
  const server = (config.getCurrentCluster()?.server ?? '').replace(/\/+$/, '');

  async function send(
    method: string,
    path: string,
    { query = {}, body, signal }: Parameters<KubeClient['call']>[2] & object,
  ): Promise<IncomingMessage> {
    const options: RequestOptions = {};
    await config.applyToHTTPSOptions(options);
    const data = body === undefined ? undefined : JSON.stringify(body);
    const headers = {
      accept: 'application/json',
      ...(data === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(data) }),
      ...(options.headers as object | undefined),
    };
    const url = `${server}${path}${queryText(query)}`;
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const { request } = url.startsWith('https:') ? https : nodeHttp;
    const sent = request(url, { ...options, method, headers, ...(signal === undefined ? {} : { signal }) });
    sent.on('response', resolve).on('error', reject).end(data);
    return promise;
  }

  return {
    namespace,
    async call(method, path, options = {}) {
      const late = AbortSignal.timeout(CALL_MS);
      const signal = options.signal === undefined ? late : AbortSignal.any([late, options.signal]);
      try {
        return await answerOf(await send(method, path, { ...options, signal }));
      } catch (error) {
        return late.aborted ? { kind: 'trouble', reason: TOO_LATE } : troubleOf(error);
      }
    },
    async watch(path, query, given, onEvent) {
      const all = { ...query, watch: 'true', timeoutSeconds: WATCH_SECONDS };
      const late = AbortSignal.timeout(WATCH_SECONDS * 1000 + CALL_MS);
      const signal = AbortSignal.any([given, late]);
      try {
        const response = await send('GET', path, { query: all, signal });
        if (response.statusCode !== 200) return await answerOf(response);
        for await (const line of linesOf(response)) onEvent(JSON.parse(line) as KubeEvent);
        return { kind: 'done', body: undefined };
      } catch (error) {
        return troubleOf(error);
      }
    },
    async socketTo(path) {
      const options: RequestOptions = {};
      await config.applyToHTTPSOptions(options);
      return { url: `${server.replace(/^http/, 'ws')}${path}`, options };
    },
  };
}

const TOO_LATE = `the API server did not answer within ${CALL_MS / 1000} seconds`;

function queryText(query: Query): string {
  const pairs = Object.entries(query).map(([name, value]) => [name, String(value)] as const);
  return pairs.length === 0 ? '' : `?${new URLSearchParams(Object.fromEntries(pairs))}`;
}

/** 401: our own credentials have expired, which is a matter of the installation and not of the request. */
async function answerOf(response: IncomingMessage): Promise<KubeAnswer> {
  const status = response.statusCode ?? 0;
  const body = parsed(await textOf(response));
  if (status >= 200 && status < 300) return { kind: 'done', body };
  const { reason } = statusIn(body);
  const text = messageIn(body, status);
  if (status >= 500 || status === 429 || status === 401 || status < 400)
    return { kind: 'trouble', reason: `the API server answered ${status}: ${text}` };
  return { kind: 'refused', status, reason: reason ?? '', message: text };
}

function messageIn(body: unknown, status: number): string {
  const message = statusIn(body).message ?? nodeHttp.STATUS_CODES[status] ?? 'an unknown answer';
  return cutLine(message, LONGEST_REASON);
}

/** Why a request was refused; of a connection that breaks meanwhile, only what the status means. Never rejects. */
export async function refusalText(response: IncomingMessage): Promise<string> {
  const status = response.statusCode ?? 0;
  try {
    return messageIn(parsed(await textOf(response)), status);
  } catch {
    return messageIn(undefined, status);
  }
}

/** Of a `Status` of the API. */
export function statusIn(body: unknown): { readonly reason?: string; readonly message?: string } {
  const { reason, message } = Object(body) as { readonly reason?: unknown; readonly message?: unknown };
  return {
    ...(typeof reason === 'string' ? { reason } : {}),
    ...(typeof message === 'string' ? { message } : {}),
  };
}

function parsed(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    // A proxy's page.
    return { message: text.slice(0, LONGEST_REASON) };
  }
}

async function textOf(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of response) {
    size += part.length;
    if (size > MOST_BYTES) throw new Error(`the API server sent more than ${MOST_BYTES} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

async function* linesOf(response: IncomingMessage): AsyncGenerator<string> {
  let rest = '';
  response.setEncoding('utf8');
  for await (const part of response) {
    const lines = (rest + part).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > MOST_BYTES)
      throw new Error(`the API server sent a line of more than ${MOST_BYTES} bytes`);
    yield* lines.filter(line => line !== '');
  }
}

function troubleOf(error: unknown): KubeTrouble {
  const { message, code } =
    error instanceof Error ? (error as NodeJS.ErrnoException) : { message: String(error), code: undefined };
  // The attempts at several addresses of a name have a code and no text.
  const text = message === '' ? `the API server is not reached (${code ?? 'unknown'})` : message;
  return { kind: 'trouble', reason: cutLine(text, LONGEST_REASON) };
}
