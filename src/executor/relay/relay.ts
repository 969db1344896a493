/**
 * Lets jobs hand in spans of their own over OTLP, without a collector, without its credentials, and only below their own build:
 *
 *     OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318/4f3c…   each build has an address nobody else knows, while it runs
 *
 * A job in a sandbox has a loopback of its own; nothing of the host listens there. So its sandbox listens before the playbook
 * begins and hands the listening socket to us (`listen-in-sandbox.ts`): no process forwards anything, and a socket that is handed
 * over leads to nobody but this server. Where a job is on the host's network it posts to a listener of ours on the host's loopback.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { Clock, Nanoseconds } from '../../lib/clock.ts';
import { sha256 } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import type { Execution } from '../../model/build.ts';
import type { BuildRequest } from '../../model/build-request.ts';
import type { SpanRecord } from '../../model/span.ts';
import { type BuildDoor, buildDoor } from './build-door.ts';
import { buildIntake } from './build-relay.ts';
import { PORT_INSIDE } from './listen-in-sandbox.ts';
import { relayHandler } from './relay-handler.ts';
import type { RelayCounts, RelayLimits } from './relay-quota.ts';

export interface Relay extends AsyncDisposable {
  /** @returns null for a build of which nobody keeps the trace. */
  open(request: BuildRequest): BuildRelay | null;
}

export interface BuildRelay {
  /** @param inside the job has a loopback of its own. */
  environment(inside: boolean): { readonly [name: string]: string };
  /** Answers on what a playbook's sandbox listens on, until {@link hangUp}. */
  serve(listener: Server): void;
  /**
   * A playbook has ended; connections it left open are cut.
   *
   * @param inside as with {@link environment}: its sandbox should have listened.
   */
  hangUp(inside: boolean): void;
  /** Its playbooks have ended: nothing more is taken. @returns what it told, ready to go out. */
  finish(execution: Execution, cancelledAt: Nanoseconds | null): readonly SpanRecord[];
  counts(): RelayCounts;
  /** The build has ended, however: its address is nobody's any more. Idempotent. */
  close(): void;
}

/** Of one playbook's sandbox. */
const MOST_CONNECTIONS = 128;
/** Of all jobs on the host's network. */
const MOST_HOST_CONNECTIONS = 512;
/** An exporter on the same machine has sent its request at once; who has not holds a place that others of its build wait for. */
const PATIENCE = { requestTimeout: 10_000, headersTimeout: 5000, connectionsCheckingInterval: 5000 };

export interface RelayDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Pick<Log, 'warn'>;
}

export async function startRelay(limits: RelayLimits, { clock, log }: RelayDeps): Promise<Relay> {
  /** By the hash of the build's token: looking one up says nothing about the others. */
  const doors = new Map<string, BuildDoor>();
  const http = createServer(
    { ...PATIENCE, keepAliveTimeout: 30_000 },
    relayHandler(token => doors.get(sha256(token))),
  );
  http.maxConnections = MOST_HOST_CONNECTIONS;
  const port = await listen(http);
  // A connection that could not be accepted; the next may.
  http.on('error', error => log.warn({ error: error.message }, 'jobs could not reach the relay of spans'));

  function open(request: BuildRequest): BuildRelay | null {
    const { trace } = request;
    if (trace === null || !trace.sampled) return null;
    const token = randomBytes(16).toString('hex');
    const intake = buildIntake(request, trace, limits, clock);
    doors.set(sha256(token), buildDoor(intake, limits));
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
        doors.delete(sha256(token));
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

/** Metrics and logs have nowhere to go: exporters that are on by default are told so. A job that sets its own wins. */
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
  /** @returns whether anything had listened. */
  hangUp(): boolean;
}

/** The listeners of one build's sandboxes; what comes in goes to the one HTTP server. */
function switchboard(http: HttpServer, log: Pick<Log, 'warn'>): Switchboard {
  const listeners = new Set<Server>();
  const sockets = new Set<Socket>();
  return {
    serve(listener) {
      listeners.add(listener);
      listener.maxConnections = MOST_CONNECTIONS;
      // Its socket was made where the job is: whatever is wrong with it ends no more than this listener.
      listener.on('error', error => {
        log.warn(
          { error: error.message },
          'a sandbox is no longer listened to: its job cannot hand in spans',
        );
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
