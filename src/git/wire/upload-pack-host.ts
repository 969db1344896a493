/**
 * Asks hosts behind HTTP, or behind SSH where the driver has a connection, for refs and packs over connections that stay open. `git fetch` takes three requests in a row on a new
 * connection, of which the first only says which protocol the host speaks; this takes one on a connection that is there:
 *
 *     git fetch    connect → TLS → hello → list → objects
 *     here                                 list
 *                                          objects           beside it
 *
 * It is for what is small and for hosts that serve it at once. Everything else (another status, a redirect, another protocol, an
 * answer that is too large or late) is "not served", and the caller lets git ask: git knows proxies and certificates, and its
 * messages say what is wrong.
 */
import type { ClientRequest, IncomingMessage } from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';
import { nodeHttp } from '../../lib/node-http.ts';
import type { ObjectId } from '../objects/object-id.ts';
import type { RefName } from '../objects/ref-name.ts';
import type { AskUploadPack, Remote } from '../process/remote.ts';
import { FLUSH } from './packets.ts';
import { listingRequest, packRequest, readListing, readPack, withoutGreeting } from './upload-pack.ts';

/** Undefined as an answer: not served. Nothing rejects. */
export interface UploadPackHost {
  /** Whether {@link refs} and {@link pack} can ask this remote at all. */
  canAsk(remote: Remote): boolean;
  /** Where those of the refs are that exist. */
  refs(remote: Remote, refs: readonly RefName[]): Promise<ReadonlyMap<RefName, ObjectId> | undefined>;
  /** What commits lead to and `haves` do not. */
  pack(remote: Remote, commits: readonly ObjectId[], haves: readonly ObjectId[]): Promise<Buffer | undefined>;
  /** Ends requests under way and all connections. */
  close(): void;
}

/** Of an answer. What is larger takes long enough for three requests more not to matter. */
const MOST_BYTES = 4 * 1024 * 1024;
const DEADLINE_MS = 5_000;
/** At a time. Past them git asks, rather than that requests wait for one another until they are late. */
const MOST_REQUESTS = 32;
/** A host that did not serve is not asked for so long: each attempt costs the fetch its time. */
const PAUSE_MS = 60_000;

interface UploadPackHostOptions {
  /** Requests need a proxy, which only git knows: no remote can be asked. */
  readonly proxied: boolean;
  /** For a whole exchange; default 5 s. */
  readonly deadlineMs?: number;
}

export function createUploadPackHost(options: UploadPackHostOptions): UploadPackHost {
  const { proxied, deadlineMs = DEADLINE_MS } = options;
  const kept = { keepAlive: true };
  const agents = { plain: new nodeHttp.Agent(kept), secure: new SecureAgent(kept) };
  const ended = new AbortController();
  const pausedUntil = new Map<string, number>();
  let underWay = 0;

  function begin(remote: Remote): ClientRequest {
    const url = new URL(`${remote.url.replace(/\/+$/, '')}/git-upload-pack`);
    const isSecure = url.protocol === 'https:';
    return (isSecure ? secureRequest : nodeHttp.request)(url, {
      method: 'POST',
      agent: isSecure ? agents.secure : agents.plain,
      headers: { ...HEADERS, ...headersOf(remote) },
      signal: AbortSignal.any([ended.signal, AbortSignal.timeout(deadlineMs)]),
    });
  }

  async function overHttp(remote: Remote, question: string): Promise<Exchanged> {
    const first = await exchange(begin(remote), question);
    // The host closed a kept connection as it was used again: that says nothing about the host.
    return first === 'stale' ? exchange(begin(remote), question) : first;
  }

  async function ask(remote: Remote, question: string): Promise<Buffer | undefined> {
    underWay += 1;
    try {
      const { askUploadPack } = remote;
      const answer =
        askUploadPack === undefined
          ? await overHttp(remote, question)
          : await converse(askUploadPack, question, { deadlineMs, signal: ended.signal });
      if (Buffer.isBuffer(answer)) return answer;
      if (answer !== 'refused') pausedUntil.set(placeOf(remote), performance.now() + PAUSE_MS);
      return undefined;
    } finally {
      underWay -= 1;
    }
  }

  return {
    canAsk(remote) {
      if (ended.signal.aborted || underWay >= MOST_REQUESTS) return false;
      if (remote.askUploadPack === undefined && (proxied || !isPlainHttp(remote))) return false;
      return (pausedUntil.get(placeOf(remote)) ?? 0) <= performance.now();
    },
    async refs(remote, refs) {
      const answer = await ask(remote, listingRequest(refs));
      return answer && readListing(answer, refs);
    },
    async pack(remote, commits, haves) {
      const answer = await ask(remote, packRequest(commits, haves));
      return answer && readPack(answer);
    },
    close() {
      ended.abort();
      for (const agent of [agents.plain, agents.secure]) agent.destroy();
    },
  };
}

function isPlainHttp({ url, environment }: Remote): boolean {
  const parsed = URL.parse(url);
  return (
    environment === undefined &&
    parsed !== null &&
    /^https?:$/.test(parsed.protocol) &&
    parsed.username === ''
  );
}

/** The server, of a URL that is one. */
function placeOf({ url }: Remote): string {
  const parsed = URL.parse(url);
  return `${parsed?.protocol}//${parsed?.host}`;
}

async function converse(
  ask: AskUploadPack,
  question: string,
  bounds: Parameters<AskUploadPack>[1],
): Promise<Exchanged> {
  // A second end of a question is the end of the conversation.
  const answer = await ask(`${question}${FLUSH}`, bounds);
  if (!Buffer.isBuffer(answer)) return answer;
  return (answer.length <= MOST_BYTES ? withoutGreeting(answer) : undefined) ?? 'refused';
}

const ANSWER_TYPE = 'application/x-git-upload-pack-result';
const HEADERS = {
  'git-protocol': 'version=2',
  'content-type': 'application/x-git-upload-pack-request',
  accept: ANSWER_TYPE,
  'user-agent': 'git/2 (gatehouse)',
};

function headersOf(remote: Remote): Record<string, string> {
  const lines = (remote.headers ?? []).map(line => {
    const [name = '', ...value] = line.split(':');
    return [name.trim().toLowerCase(), value.join(':').trim()] as const;
  });
  return Object.fromEntries(lines);
}

/** `refused`: an answer of another kind, at once. `failed`: it took time, or the connection broke. */
type Exchanged = Buffer | 'refused' | 'failed' | 'stale';

function exchange(request: ClientRequest, question: string): Promise<Exchanged> {
  return new Promise(resolve => {
    request.once('response', response => resolve(readAnswer(response)));
    request.on('error', (error: NodeJS.ErrnoException) => {
      const isStale = request.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
      resolve(isStale ? 'stale' : 'failed');
    });
    request.end(question);
  });
}

async function readAnswer(response: IncomingMessage): Promise<Exchanged> {
  if (response.statusCode !== 200 || response.headers['content-type'] !== ANSWER_TYPE) {
    response.destroy();
    return 'refused';
  }
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const part of response as AsyncIterable<Buffer>) {
      bytes += part.length;
      // Leaving the loop ends the connection.
      if (bytes > MOST_BYTES) return 'refused';
      parts.push(part);
    }
  } catch {
    return 'failed';
  }
  return Buffer.concat(parts);
}
