import type { Shape } from './shape.ts';

/** GitHub's refusal of a request; thrown by handlers, answered by the server. */
export class RequestRefused extends Error {
  readonly status: number;
  readonly errors: unknown;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    message: string,
    { errors, headers = {} }: { errors?: unknown; headers?: Record<string, string> } = {},
  ) {
    super(message);
    this.status = status;
    this.errors = errors;
    this.headers = headers;
  }
}

/** Body of a refusal. */
export function errorBody(message: string, status: number, errors?: unknown): Shape {
  return {
    message,
    ...(errors === undefined ? {} : { errors }),
    documentation_url: 'https://docs.github.com/rest',
    status: String(status),
  };
}

export function notFound(): RequestRefused {
  return new RequestRefused(404, 'Not Found');
}
