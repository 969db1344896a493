/**
 * Lets jobs hand in spans of their own over OTLP, without a collector or its credentials, and only below their own build:
 *
 *     OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318/4f3c…   each running build has an address of its own, which is secret
 *
 * A job in a sandbox has a loopback of its own; nothing of the host listens there. So its sandbox listens before the playbook
 * begins and passes the listening socket to us (`listen-in-sandbox.ts`): no process forwards anything, and such a socket
 * leads only to this server. A job on the host's network posts to a listener of ours on the host's loopback.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { Clock, Nanoseconds } from '../../lib/clock.ts';
import { sha256 } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import { nodeHttp } from '../../lib/node-http.ts';
import type { Execution } from '../../model/build.ts';
import type { BuildRequest } from '../../model/build-request.ts';
import type { SpanRecord } from '../../model/span.ts';
import { buildIntake } from './build-relay.ts';
import { PORT_INSIDE } from './listen-in-sandbox.ts';
import { relayHandler } from './relay-handler.ts';
import type { RelayCounts, RelayLimits } from './relay-quota.ts';
import { type RequestLimiter, requestLimiter } from './request-limiter.ts';

/** The OTLP endpoint of one executor, reached over loopbacks only: that of the host or of a sandbox. */
export interface Relay extends AsyncDisposable {
  /** @returns null for a build whose trace is not exported. */
  open(request: BuildRequest): BuildRelay | null;
}

/** The relay for one build. {@link BuildRelay.finish} ends the intake, {@link BuildRelay.close} the address. */
export interface BuildRelay {
  /** @param inside the job has a loopback of its own. */
  environment(inside: boolean): { readonly [name: string]: string };
  /** Serves the listening socket of a playbook's sandbox, until {@link hangUp}. */
  serve(listener: Server): void;
  /**
   * A playbook has ended; connections it left open are cut.
   *
   * @param inside as with {@link environment}: its sandbox should have listened.
   */
  hangUp(inside: boolean): void;
  /** The build's playbooks have ended: intake ends. @returns its spans, ready to export. */
  finish(execution: Execution, cancelledAt: Nanoseconds | null): readonly SpanRecord[];
  /** Complete after {@link BuildRelay.finish}. */
  counts(): RelayCounts;
  /** The build has ended, however: its address is no longer valid. Idempotent. */
  close(): void;
}

/** Of one playbook's sandbox. */
const MOST_CONNECTIONS = 128;
/** Of all jobs on the host's network. */
const MOST_HOST_CONNECTIONS = 512;
/** An exporter on the same machine sends its request immediately; a slow one holds a place that others of its build wait for. */
const PATIENCE = { requestTimeout: 10_000, headersTimeout: 5000, connectionsCheckingInterval: 5000 };

/** Times of arrival, and reports of listeners that fail. */
export interface RelayDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Pick<Log, 'warn'>;
}

/** @param limits of each build. @throws Error when it cannot listen. */
export async function startRelay(limits: RelayLimits, { clock, log }: RelayDeps): Promise<Relay> {
  /** By the hash of the build's token, so that the time of a look-up reveals nothing about other tokens. */
  const limiters = new Map<string, RequestLimiter>();
  const http = nodeHttp.createServer(
    { ...PATIENCE, keepAliveTimeout: 30_000 },
    relayHandler(token => limiters.get(sha256(token))),
  );
  http.maxConnections = MOST_HOST_CONNECTIONS;
  const port = await listen(http);
  // A connection that could not be accepted; the next one may succeed.
  http.on('error', error =>
    log.warn({ error: error.message }, "the relay could not accept a job's connection"),
  );

  function open(request: BuildRequest): BuildRelay | null {
    const { trace } = request;
    if (trace === null || !trace.sampled) return null;
    const token = randomBytes(16).toString('hex');
    const intake = buildIntake(request, trace, limits, clock);
    limiters.set(sha256(token), requestLimiter(intake, limits));
    const lines = switchboard(http, log);
    let unheard = 0;
    return {
      environment: inside => relayEnvironment(inside ? PORT_INSIDE : port, token),
      serve: lines.serve,
      hangUp(inside) {
        if (inside && !lines.hangUp()) unheard += 1;
      },
      finish: intake.finish,
      counts: () => ({ ...intake.counts(), unheard }),
      close() {
        lines.hangUp();
        limiters.delete(sha256(token));
      },
    };
  }

  return {
    open,
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>(resolve => http.close(() => resolve()));
      http.closeAllConnections();
      await closed;
    },
  };
}

/** Metrics and logs are not accepted: exporters that are on by default are switched off. A job's own settings win. */
function relayEnvironment(port: number, token: string): { readonly [name: string]: string } {
  return {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}/${token}`,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
    OTEL_METRICS_EXPORTER: 'none',
    OTEL_LOGS_EXPORTER: 'none',
  };
}

interface Switchboard {
  serve(listener: Server): void;
  /** @returns whether there was a listener. */
  hangUp(): boolean;
}

/** The listeners of one build's sandboxes; their connections go to the one HTTP server. */
function switchboard(http: HttpServer, log: Pick<Log, 'warn'>): Switchboard {
  const listeners = new Set<Server>();
  const sockets = new Set<Socket>();
  return {
    serve(listener) {
      listeners.add(listener);
      listener.maxConnections = MOST_CONNECTIONS;
      // Its socket was created in the job's sandbox: an error of it ends only this listener.
      listener.on('error', error => {
        log.warn({ error: error.message }, 'the listener of a sandbox failed: its job cannot hand in spans');
        listener.close();
      });
      listener.on('connection', socket => {
        sockets.add(socket);
        socket.once('close', () => sockets.delete(socket));
        http.emit('connection', socket);
      });
    },
    hangUp() {
      const listened = listeners.size > 0;
      for (const listener of listeners) listener.close();
      for (const socket of sockets) socket.destroy();
      listeners.clear();
      return listened;
    },
  };
}

async function listen(http: HttpServer): Promise<number> {
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const address = http.address();
  if (!isInet(address)) throw new Error('the relay listens on no port');
  return address.port;
}

function isInet(address: AddressInfo | string | null): address is AddressInfo {
  return typeof address === 'object' && address !== null;
}
