/**
 * Answers of routes. Routes are functions from a {@link ReadRequest} to an {@link Answer}; only this file and the
 * streams use Express' response, so headers and error bodies are the same everywhere.
 *
 * A refusal is `{"error": "limit: \"abc\" is not a whole number", "description": <the same>, "place": "query parameter limit"}`.
 */
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { RequestHandler, Response } from 'express';
import { assertNever } from '../lib/assert-never.ts';

/** All that a route can say. `text` is for logs of builds, which are bytes as the job wrote them. */
export type Answer =
  | { readonly kind: 'json'; readonly body: unknown; readonly headers?: Headers }
  /** A document whose text was made before, in turns. */
  | { readonly kind: 'encoded'; readonly text: string; readonly headers?: Headers }
  /** 204: it is done. */
  | { readonly kind: 'nothing'; readonly headers?: Headers }
  | { readonly kind: 'text'; readonly body: Uint8Array | string; readonly headers?: Headers }
  /** `content` of a file, compressed by gzip if `isGzipped`. */
  | {
      readonly kind: 'file';
      readonly content: Readable;
      readonly type: string;
      readonly isGzipped: boolean;
      readonly headers?: Headers;
    }
  | HttpRefusal;

type Headers = { readonly [name: string]: string };

/** A 4xx or 5xx with the same body everywhere. Texts may quote the request, cut short, and hold no secret. */
export interface HttpRefusal {
  readonly kind: 'refused';
  readonly status: 400 | 401 | 403 | 404 | 405 | 408 | 410 | 413 | 415 | 426 | 429 | 500 | 503;
  /** The problem and its remedy. */
  readonly error: string;
  /** The part of the request at fault. */
  readonly place: string;
  readonly headers?: Headers;
}

/** The only parts of a request that a reading route sees: no headers, no body, no address. */
export interface ReadRequest {
  /** Of the path, decoded; a wildcard's segments are joined again. */
  readonly parameter: (name: string) => string;
  readonly query: URLSearchParams;
}

/** May reject: createWeb answers with 500, or with 503 when the store or the history is out of reach. */
export type Route = (request: ReadRequest) => Promise<Answer>;

/** 200, unless the route sets another status first. */
export function jsonAnswer(body: unknown, headers: Headers = {}): Answer {
  return { kind: 'json', body, headers };
}

/** 404. @param place the part of the request that names the missing thing, e.g. `path: item`. */
export function notFound(error: string, place: string): HttpRefusal {
  return { kind: 'refused', status: 404, error, place };
}

/** 400. @param place the part of the request at fault, e.g. `query parameter limit`. */
export function badRequest(error: string, place: string): HttpRefusal {
  return { kind: 'refused', status: 400, error, place };
}

/** Adapts a route to Express. */
export function answering(route: Route): RequestHandler {
  return async (request, response) => {
    const parameter = (name: string) => {
      const value = request.params[name];
      return Array.isArray(value) ? value.join('/') : (value ?? '');
    };
    send(
      response,
      await route({ parameter, query: new URL(request.originalUrl, 'http://local').searchParams }),
    );
  };
}

/** Zuul's clients read the text from `description`. */
export function refusalBody({ error, place }: Pick<HttpRefusal, 'error' | 'place'>): object {
  return { error, description: error, place };
}

/** Ends the response. A status set before stays, except for a refusal's own. */
export function send(response: Response, answer: Answer): void {
  for (const [name, value] of Object.entries(answer.headers ?? {})) response.setHeader(name, value);
  // Set by auth/guard.ts: no cache may keep what not all may read, regardless of the route's own header.
  if (response.locals.isPrivate === true) response.setHeader('Cache-Control', 'private, no-store');
  switch (answer.kind) {
    case 'json':
      sendJson(response, answer.body);
      return;
    case 'encoded':
      response.type('json').send(answer.text);
      return;
    case 'nothing':
      response.status(204).end();
      return;
    case 'text':
      response.setHeader('Content-Type', 'text/plain; charset=utf-8');
      response.end(answer.body);
      return;
    case 'file':
      sendFile(response, answer);
      return;
    case 'refused':
      sendJson(response.status(answer.status), refusalBody(answer));
      return;
    default:
      assertNever(answer);
  }
}

/** Express hashes each answer for its ETag, which serves readers only and costs as much as all of its routing. */
function sendJson(response: Response, body: unknown): void {
  const { method } = response.req;
  if (method === 'GET' || method === 'HEAD') return void response.json(body);
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.end(JSON.stringify(body));
}

/** As it is kept for clients that take gzip. A failure on the way cuts the connection: the client sees that it is not whole. */
function sendFile(response: Response, { content, type, isGzipped }: Extract<Answer, { kind: 'file' }>): void {
  response.setHeader('Content-Type', type);
  if (isGzipped) response.setHeader('Vary', 'Accept-Encoding');
  if (response.req.method === 'HEAD') {
    content.destroy();
    response.end();
    return;
  }
  const done = () => {};
  if (isGzipped && response.req.acceptsEncodings('gzip') === false) {
    pipeline(content, createGunzip(), response, done);
    return;
  }
  if (isGzipped) response.setHeader('Content-Encoding', 'gzip');
  pipeline(content, response, done);
}
