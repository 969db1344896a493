/**
 * One HTTP request to GitHub through `@octokit/core`: a deadline, a bound on the answer, no redirects, no repetition. Octokit adds
 * the App's token to requests that are made as the App, and asks once more when the clocks differ.
 *
 * Octokit's errors hold the request with its headers, the token among them: none leaves this file.
 */
import { createAppAuth } from '@octokit/auth-app';
import { Octokit } from '@octokit/core';
import type { Secret } from '../../../src/lib/secret.ts';
import type { HostTroubleReason } from '../../../src/model/host-trouble.ts';
import { AnswerTooLarge, boundedFetch } from './bounded-fetch.ts';
import { hostText } from './host-text.ts';

/** What goes over the wire. */
interface GithubRequest {
  /** `GET /repos/{owner}/{repo}/pulls`; of GraphQL with the whole URL. */
  readonly route: string;
  /** For the placeholders of the route; the rest is query or body. */
  readonly parameters: { readonly [name: string]: unknown };
  /** Undefined: made as the App, of a route that GitHub offers to Apps. */
  readonly token: Secret | undefined;
  readonly etag?: string;
}

/** An answer with any status, or none. Names of headers are in lower case. */
export type GithubRaw =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly headers: GithubHeaders;
      readonly data: unknown;
    }
  /** `isSent`: false when the request certainly did not reach the host. */
  | {
      readonly kind: 'silent';
      readonly reason: HostTroubleReason;
      readonly text: string;
      readonly isSent: boolean;
    };

/** By lower-case name. */
export type GithubHeaders = { readonly [name: string]: string | undefined };

/** @throws only the reason of an aborted signal. */
export type SendToGithub = (request: GithubRequest, signal: AbortSignal) => Promise<GithubRaw>;

/** Where GitHub is, and who we are there. */
export interface SendOptions {
  /** Without trailing slash. */
  readonly apiUrl: string;
  /** Undefined: a token only. */
  readonly app: { readonly id: number; readonly key: Secret } | undefined;
  /** For a whole exchange, milliseconds. */
  readonly deadlineMs: number;
  readonly mostBytes: number;
  readonly warn: (text: string) => void;
}

const API_VERSION = '2022-11-28';

export function createSender(options: SendOptions): SendToGithub {
  const { app, apiUrl, warn } = options;
  const log = { debug: ignore, info: ignore, warn: (text: string) => warn(hostText(text)), error: ignore };
  const common = {
    baseUrl: apiUrl,
    userAgent: 'gatehouse',
    log,
    request: { fetch: boundedFetch(options.mostBytes), redirect: 'manual' as const, log },
  };
  const plain = new Octokit(common);
  const asApp =
    app === undefined
      ? undefined
      : new Octokit({
          ...common,
          authStrategy: createAppAuth,
          auth: { appId: app.id, privateKey: app.key.reveal(), log },
        });

  return async ({ route, parameters, token, etag }, signal) => {
    signal.throwIfAborted();
    const deadline = AbortSignal.timeout(options.deadlineMs);
    const headers = {
      accept: 'application/vnd.github+json',
      'x-github-api-version': API_VERSION,
      ...(token === undefined ? {} : { authorization: `token ${token.reveal()}` }),
      ...(etag === undefined ? {} : { 'if-none-match': etag }),
    };
    const octokit = token === undefined ? (asApp ?? plain) : plain;
    const request = { signal: AbortSignal.any([signal, deadline]) };
    try {
      return answered(await octokit.request(route, { ...parameters, headers, request }));
    } catch (error) {
      signal.throwIfAborted();
      if (deadline.aborted) return silent('timeout', `no answer within ${options.deadlineMs / 1000} s`, true);
      return answerOf(error) ?? failureOf(error);
    }
  };
}

function ignore(): void {}

/** What Octokit resolves with, and what its errors hold of an answer. */
interface OctokitAnswer {
  readonly status: number;
  readonly headers: { readonly [name: string]: string | number | undefined };
  readonly data: unknown;
}

function answered({ status, headers, data }: OctokitAnswer): GithubRaw {
  const texts = Object.entries(headers).map(([name, value]) => [name, String(value)] as const);
  return { kind: 'answered', status, headers: Object.fromEntries(texts), data };
}

/** Octokit throws on statuses from 304 on. */
function answerOf(error: unknown): GithubRaw | undefined {
  if (!(error instanceof Error) || !('response' in error)) return undefined;
  const { response } = error;
  return isAnswer(response) ? answered(response) : undefined;
}

function isAnswer(value: unknown): value is OctokitAnswer {
  return typeof value === 'object' && value !== null && 'status' in value && 'headers' in value;
}

/** Codes of a connection that was never there. */
const UNSENT: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);

function failureOf(error: unknown): GithubRaw {
  const chain = causesOf(error);
  const large = chain.find(cause => cause instanceof AnswerTooLarge);
  if (large !== undefined) return silent('too-large', large.message, true);
  const code = chain.map(codeOf).find(found => found !== undefined);
  const text = code ?? hostText(chain.at(-1)?.message ?? 'the request failed');
  return silent('unreachable', `GitHub cannot be reached: ${text}`, code === undefined || !UNSENT.has(code));
}

/** The error and its causes, at most five. */
function causesOf(error: unknown): readonly Error[] {
  const chain: Error[] = [];
  let next = error;
  while (next instanceof Error && chain.length < 5) {
    chain.push(next);
    next = next.cause;
  }
  return chain;
}

function codeOf(error: Error): string | undefined {
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

function silent(reason: HostTroubleReason, text: string, isSent: boolean): GithubRaw {
  return { kind: 'silent', reason, text, isSent };
}
