/** A client of the service's own HTTP API: JSON answers, and errors a person can act on. */

/** The service could not be asked, or refused; the message is ready to print. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** HTTP status; 0: nobody answered. */
  readonly status: number;
  constructor(status: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

export interface Api {
  readonly root: string;
  /** @throws ApiError */
  get<Answer>(path: string): Promise<Answer>;
  /** @throws ApiError */
  text(path: string): Promise<string>;
  /** The body of a stream that stays open. @throws ApiError */
  stream(path: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array>>;
}

/** @param root of the service, e.g. `http://127.0.0.1:9000`, without trailing slash. */
export function createApi(root: string): Api {
  async function ask(path: string, signal?: AbortSignal): Promise<Response> {
    let response: Response;
    try {
      response = await fetch(`${root}${path}`, signal === undefined ? {} : { signal });
    } catch (error) {
      signal?.throwIfAborted();
      throw new ApiError(
        0,
        `cannot reach ${root} (${causeOf(error)}); is the service running? Name another with --url`,
        { cause: error },
      );
    }
    if (!response.ok) throw new ApiError(response.status, await refusalOf(response, path));
    return response;
  }
  return {
    root,
    async get<Answer>(path: string): Promise<Answer> {
      // The service is the same release as this client: its answers have the types it was built with.
      return JSON.parse(await (await ask(path)).text());
    },
    text: async path => (await ask(path)).text(),
    async stream(path, signal) {
      const { body } = await ask(path, signal);
      if (body === null) throw new ApiError(200, `${root}${path} answered without a body`);
      return body;
    },
  };
}

function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}

async function refusalOf(response: Response, path: string): Promise<string> {
  const text = await response.text();
  try {
    const { error }: { error?: unknown } = JSON.parse(text);
    if (typeof error === 'string') return error;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return `${path} answered ${response.status} ${response.statusText}`;
}
