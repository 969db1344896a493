/** Client of the service's HTTP API: JSON answers, and errors a person can act on. */
import type { CommandTrace, TracedRequest } from './command-trace.ts';
import { type Endpoint, type EndpointRequest, fetchFrom } from './endpoint.ts';
import { type ClientIdentity, identityHeaders } from './identity.ts';

/** The service is unreachable or refused the request; the message is ready to print. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** HTTP status; 0: no answer, or not one of Gatehouse. */
  readonly status: number;
  constructor(status: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

/** One service; a path begins with `/` and may have a query. An answer takes at most 30 s; only its signal ends a stream. */
export interface Api {
  /** Where it is, for people: its address, or the path of its socket. */
  readonly root: string;
  /** @throws ApiError */
  get<Answer>(path: string): Promise<Answer>;
  /** Sends JSON, gets JSON. @throws ApiError */
  post<Answer>(path: string, body: unknown): Promise<Answer>;
  /** Deletes what is there. @throws ApiError */
  remove(path: string): Promise<void>;
  /** @throws ApiError */
  text(path: string): Promise<string>;
  /** A body that need not be text, with its headers. @throws ApiError */
  bytes(path: string): Promise<ApiBytes>;
  /** The body of a stream that stays open. @throws ApiError */
  stream(path: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array>>;
}

interface ApiBytes {
  readonly bytes: Uint8Array;
  /** Null: there is no such header. */
  header(name: string): string | null;
}

/** Milliseconds in which an answer must have arrived; a stream only must have begun. */
const ANSWER_LIMIT = 30_000;

/** Without a token, only the socket of this machine's web allows changes. */
export interface ApiOptions extends Partial<ClientIdentity> {
  /** Records each request; absent: nothing is recorded. */
  readonly trace?: CommandTrace | undefined;
}

/** @param where a string is an address such as `http://127.0.0.1:9000`, without trailing slash. */
export function createApi(where: string | Endpoint, { token, trace }: ApiOptions = {}): Api {
  const endpoint: Endpoint = typeof where === 'string' ? { kind: 'http', root: where } : where;
  const root = endpoint.kind === 'http' ? endpoint.root : endpoint.path;
  const identity = identityHeaders({ token });

  async function ask(
    path: string,
    more: Partial<EndpointRequest> & Pick<EndpointRequest, 'signal'>,
  ): Promise<Asked> {
    const { signal, method = 'GET' } = more;
    const traced = trace?.request(method, endpoint, path);
    let response: Response;
    try {
      const headers = { ...identity, ...traced?.headers, ...more.headers };
      response = await fetchFrom(endpoint, path, { ...more, headers });
    } catch (error) {
      traced?.failed();
      if (signal.aborted && !isTimeout(signal.reason)) throw signal.reason;
      throw unreachable(endpoint, error);
    }
    traced?.answered(response.status);
    if (response.ok) return { response, traced };
    traced?.over();
    throw new ApiError(response.status, await refusalOf(response, `${root}${path}`));
  }
  async function bytes(path: string, more?: Partial<EndpointRequest>): Promise<ApiBytes> {
    const { response, traced } = await ask(path, { ...more, signal: AbortSignal.timeout(ANSWER_LIMIT) });
    try {
      const body = new Uint8Array(await response.arrayBuffer());
      traced?.over();
      return { bytes: body, header: name => response.headers.get(name) };
    } catch (error) {
      traced?.failed();
      throw unreachable(endpoint, error);
    }
  }
  async function text(path: string, more?: Partial<EndpointRequest>): Promise<string> {
    return new TextDecoder().decode((await bytes(path, more)).bytes);
  }
  async function json<Answer>(path: string, more?: Partial<EndpointRequest>): Promise<Answer> {
    const body = await text(path, more);
    try {
      // The service is the same release as this client: its answers have the types it was built with.
      return JSON.parse(body);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      throw new ApiError(
        0,
        `${root}${path} did not answer with JSON; is Gatehouse at ${root}? Name another address with --url`,
      );
    }
  }
  return {
    root,
    text: path => text(path),
    bytes: path => bytes(path),
    get: path => json(path),
    post: (path, body) =>
      json(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    remove: async path => void (await bytes(path, { method: 'DELETE' })),
    async stream(path, signal) {
      const { response, traced } = await ask(path, { signal });
      if (response.body === null) throw new ApiError(0, `${root}${path} answered without a body`);
      return brokenAsApiError(response.body, root, traced);
    },
  };
}

interface Asked {
  readonly response: Response;
  readonly traced: TracedRequest | undefined;
}

/** A stream that breaks off is an expected failure: the service was stopped. */
function brokenAsApiError(
  body: ReadableStream<Uint8Array>,
  root: string,
  traced: TracedRequest | undefined,
): ReadableStream<Uint8Array> {
  return ReadableStream.from(
    (async function* pieces() {
      try {
        yield* body;
      } catch (error) {
        if (error instanceof Error && error.name === 'AbortError') throw error;
        throw new ApiError(0, `lost contact with ${root} (${causeOf(error)})`, { cause: error });
      } finally {
        traced?.over();
      }
    })(),
  );
}

function unreachable(endpoint: Endpoint, cause: unknown): ApiError {
  const reason = isTimeout(cause) ? `no answer within ${ANSWER_LIMIT / 1000} s` : causeOf(cause);
  const text =
    endpoint.kind === 'http'
      ? `cannot reach ${endpoint.root} (${reason}); is the service running? Name another address with --url`
      : socketProblem(endpoint.path, cause, reason);
  return new ApiError(0, text, { cause });
}

function socketProblem(path: string, cause: unknown, reason: string): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  switch (code) {
    case 'ENOENT':
    case 'ECONNREFUSED':
      return `no web of this machine listens at ${path} (${code}); is it running? Name other settings with --config, or send a token: see "gatehouse help create-auth-token"`;
    case 'EACCES':
      return `you may not use ${path}: run this as the user of the service, or send a token: see "gatehouse help create-auth-token"`;
    default:
      return `cannot reach the service at ${path} (${reason})`;
  }
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError';
}

function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  // A host with several addresses fails with one error for each.
  if (cause instanceof AggregateError) return causeOf(cause.errors[0]);
  return cause instanceof Error ? cause.message : error.message;
}

/** The `error` of the service's answer; any other body comes from another program. */
async function refusalOf(response: Response, address: string): Promise<string> {
  const body = await response.text();
  try {
    const { error }: { error?: unknown } = JSON.parse(body);
    if (typeof error === 'string') return error;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  const status = `${response.status} ${response.statusText}`.trim();
  return `${address} answered ${status}; is Gatehouse there? Name another address with --url`;
}
