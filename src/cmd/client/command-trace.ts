/**
 * The trace of one command: a span for the command, one below it for each request it makes of the service. When the command
 * has ended, the spans are sent to that same service, which forwards them: the command line needs no collector.
 *
 *     const trace = commandTrace({ clock, environment, ids: randomIds(), version });
 *     trace?.named('dequeue');
 *     const call = trace?.request('POST', endpoint, path);     // send call.headers with it
 *     call?.answered(200);
 *     call?.over();
 *     await trace?.end(0, deliver);                 // all of it goes out, or none
 *
 * A `TRACEPARENT` in the environment becomes the parent: a command in a job is part of the job's trace. Nothing is recorded
 * or sent with `DO_NOT_TRACK=1` or `OTEL_SDK_DISABLED=true`. Spans carry no arguments, only the path of a request.
 */
import type { Clock, Nanoseconds } from '../../lib/clock.ts';
import { type IdMaker, type SpanId, spanIdOf, traceIdOf } from '../../lib/ids.ts';
import type { SpanRecord } from '../../model/span.ts';
import { attributesOf } from '../../tracing/attribute-values.ts';
import { traceparent } from '../../tracing/carrier.ts';
import { parseTraceparent } from '../../tracing/parse-traceparent.ts';
import { wireKindOf } from '../../tracing/wire-kind.ts';
import type { Endpoint } from './endpoint.ts';
import { routeOf } from './route-of.ts';

/** Records one command: `program.ts` makes it and names the command, the client adds requests, `session.ts` ends it. */
export interface CommandTrace {
  /** @param command without its arguments, e.g. `store dump`. */
  named(command: string): void;
  /** @param path may have a query, which is not recorded. */
  request(method: string, endpoint: Endpoint, path: string): TracedRequest;
  /**
   * Ends the command's span, and those of requests that still run. `deliver` is called with them only if the service has answered
   * at least once: an unreachable service is not waited for again.
   */
  end(exitStatus: number, deliver: (spans: readonly SpanRecord[]) => Promise<void>): Promise<void>;
}

/** Records one request. The first of `over` and `failed` ends its span; without either it ends with the command. */
export interface TracedRequest {
  /** To send with the request. */
  readonly headers: { readonly traceparent: string };
  /** The answer has begun. */
  answered(status: number): void;
  /** The answer is complete. An open stream ends with the command. */
  over(): void;
  /** No answer, or an incomplete one. */
  failed(): void;
}

/** `environment` decides whether anything is recorded, and below which parent. */
export interface CommandTraceDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: IdMaker;
  readonly environment: { readonly [name: string]: string | undefined };
}

/** Recorded requests of one command; a command that polls for days makes more. */
const MOST_REQUESTS = 200;
const INTERRUPTED = 130;

/** Undefined: recording is disabled. */
export function commandTrace({ clock, ids, environment }: CommandTraceDeps): CommandTrace | undefined {
  if (isTrue(environment.DO_NOT_TRACK) || environment.OTEL_SDK_DISABLED?.toLowerCase() === 'true')
    return undefined;
  const from = parseTraceparent(environment.TRACEPARENT);
  const traceId = from?.span.traceId ?? traceIdOf(ids.uuid());
  const sampled = from?.sampled ?? true;
  const root = { spanId: spanIdOf(ids.uuid()), start: clock.now() };
  const requests: Request[] = [];
  let name = '';
  let reached = false;

  return {
    named(command) {
      name = command;
    },
    request(method, endpoint, path) {
      const request: Request = {
        spanId: spanIdOf(ids.uuid()),
        method,
        endpoint,
        path: path.replace(/\?.*$/s, ''),
        start: clock.now(),
        status: undefined,
        end: undefined,
        broken: false,
      };
      if (requests.length < MOST_REQUESTS) requests.push(request);
      return {
        headers: { traceparent: traceparent({ traceId, spanId: request.spanId }, sampled) },
        answered(status) {
          reached = true;
          request.status = status;
        },
        over() {
          request.end ??= clock.now();
        },
        failed() {
          request.end ??= clock.now();
          request.broken = true;
        },
      };
    },
    async end(exitStatus, deliver) {
      if (!reached || !sampled) return;
      const end = clock.now();
      const parent = { traceId, spanId: root.spanId };
      const command: SpanRecord = {
        ...parent,
        parent: from?.span.spanId ?? null,
        name: `gatehouse ${name}`,
        kind: wireKindOf('Command', true),
        start: root.start,
        end,
        attributes: attributesOf('Command', {
          spanType: 'Command',
          command: name,
          exitCode: exitStatus,
          result: exitStatus === 0 ? 'SUCCESS' : exitStatus === INTERRUPTED ? 'CANCELED' : 'FAILURE',
          errorType: isFailure(exitStatus) ? `exit-${exitStatus}` : undefined,
        }),
        events: [],
        links: [],
        status: isFailure(exitStatus) ? { code: 'error', message: `exit-${exitStatus}` } : { code: 'unset' },
      };
      await deliver([command, ...requests.map(request => requestSpan(request, parent, end))]);
    },
  };
}

interface Request {
  readonly spanId: SpanId;
  readonly method: string;
  readonly endpoint: Endpoint;
  /** Without query. */
  readonly path: string;
  readonly start: Nanoseconds;
  /** Of HTTP; undefined: no answer yet. */
  status: number | undefined;
  end: Nanoseconds | undefined;
  broken: boolean;
}

function requestSpan(
  request: Request,
  command: Pick<SpanRecord, 'traceId' | 'spanId'>,
  now: Nanoseconds,
): SpanRecord {
  const { spanId, method, endpoint, path, start } = request;
  const problem = problemOf(request);
  return {
    traceId: command.traceId,
    spanId,
    parent: command.spanId,
    name: `${method} ${routeOf(path)}`,
    kind: wireKindOf('CommandRequest', false),
    start,
    end: request.end ?? now,
    attributes: attributesOf('CommandRequest', {
      spanType: 'CommandRequest',
      httpMethod: method,
      httpStatus: request.status,
      urlPath: path,
      ...serverOf(endpoint),
      result: problem === undefined ? 'SUCCESS' : 'FAILURE',
      errorType: problem,
    }),
    events: [],
    links: [],
    status: problem === undefined ? { code: 'unset' } : { code: 'error', message: problem },
  };
}

/** The address of a Unix socket is its path, per OpenTelemetry's conventions. */
function serverOf(endpoint: Endpoint): {
  readonly serverAddress: string;
  readonly serverPort: number | undefined;
} {
  if (endpoint.kind === 'socket') return { serverAddress: endpoint.path, serverPort: undefined };
  const { hostname, port } = new URL(endpoint.root);
  return { serverAddress: hostname, serverPort: Number(port) || undefined };
}

/** `error.type` per the HTTP conventions: the status, or a short name. */
function problemOf({ status, broken }: Request): string | undefined {
  if (status !== undefined && status >= 400) return String(status);
  return broken ? 'unreachable' : undefined;
}

function isFailure(exitStatus: number): boolean {
  return exitStatus !== 0 && exitStatus !== INTERRUPTED;
}

function isTrue(value: string | undefined): boolean {
  return value === '1' || value?.toLowerCase() === 'true';
}
