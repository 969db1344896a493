/**
 * Answers of routes. Routes are functions from a {@link ReadRequest} to an {@link Answer}; only this file and the
 * streams use Express' response, so headers and error bodies are the same everywhere.
 *
 * A refusal is `{"error": "limit: \"abc\" is not a whole number", "description": <the same>, "place": "query parameter limit"}`.
 */
import type { RequestHandler, Response } from 'express';
import { assertNever } from '../lib/assert-never.ts';

export type Answer =
  | { readonly kind: 'json'; readonly body: unknown; readonly headers?: Headers }
  | { readonly kind: 'text'; readonly body: Uint8Array | string; readonly headers?: Headers }
  | HttpRefusal;

type Headers = { readonly [name: string]: string };

export interface HttpRefusal {
  readonly kind: 'refused';
  readonly status: 400 | 401 | 403 | 404 | 405 | 408 | 410 | 413 | 415 | 429 | 500 | 503;
  /** The problem and its remedy. */
  readonly error: string;
  /** The part of the request at fault. */
  readonly place: string;
  readonly headers?: Headers;
}

export interface ReadRequest {
  /** Of the path, decoded; a wildcard's segments are joined again. */
  readonly parameter: (name: string) => string;
  readonly query: URLSearchParams;
}

export type Route = (request: ReadRequest) => Promise<Answer>;

export function jsonAnswer(body: unknown, headers: Headers = {}): Answer {
  return { kind: 'json', body, headers };
}

export function notFound(error: string, place: string): HttpRefusal {
  return { kind: 'refused', status: 404, error, place };
}

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

export function send(response: Response, answer: Answer): void {
  for (const [name, value] of Object.entries(answer.headers ?? {})) response.setHeader(name, value);
  switch (answer.kind) {
    case 'json':
      response.json(answer.body);
      return;
    case 'text':
      response.setHeader('Content-Type', 'text/plain; charset=utf-8');
      response.end(answer.body);
      return;
    case 'refused':
      response.status(answer.status).json(refusalBody(answer));
      return;
    default:
      assertNever(answer);
  }
}
