/**
 * A real Jaeger for a test: one of its own from the program `JAEGER_BIN`, on free ports and in memory, or one that runs already.
 *
 *     JAEGER_BIN=/usr/local/bin/jaeger npm run test:jaeger
 *     JAEGER_QUERY=http://localhost:16686 JAEGER_GRPC=http://localhost:4317 JAEGER_HTTP=http://localhost:4318 npm run test:jaeger
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';

export interface Jaeger extends AsyncDisposable {
  /** Page and API, e.g. `http://127.0.0.1:16686`. */
  readonly query: string;
  /** Takes OTLP over gRPC. */
  readonly grpc: string;
  /** Takes OTLP over HTTP: `/v1/traces` below it. */
  readonly http: string;
}

const HOW = `npm run test:jaeger needs a Jaeger 2:
  JAEGER_BIN=<path of the program "jaeger">     starts one for the test, on free ports, in memory
  JAEGER_QUERY, JAEGER_GRPC, JAEGER_HTTP        addresses of one that runs, e.g. http://localhost:16686, :4317 and :4318
The program comes from https://www.jaegertracing.io/download/, or with a Go toolchain from the source of v1.76.0 (which is Jaeger 2.13),
built in its own module, because that has the checksums of all it needs:
  go mod download github.com/jaegertracing/jaeger@v1.76.0
  cp -r "$(go env GOMODCACHE)/github.com/jaegertracing/jaeger@v1.76.0" jaeger && chmod -R u+w jaeger && cd jaeger && go build ./cmd/jaeger`;

/** Milliseconds a Jaeger may take to be ready. */
const PATIENCE = 30_000;

/** Called by Vitest before anything else of a run. @throws Error that says how to get a Jaeger, when there is none. */
export function setup(): void {
  chosen();
}

export async function startJaeger(): Promise<Jaeger> {
  const { program, running } = chosen();
  return program === undefined ? running : startOwn(program);
}

function chosen(): { readonly program: string | undefined; readonly running: Jaeger } {
  const { JAEGER_BIN: program, JAEGER_QUERY: query, JAEGER_GRPC: grpc, JAEGER_HTTP: http } = process.env;
  if (program === undefined && (query === undefined || grpc === undefined || http === undefined))
    throw new Error(HOW);
  const running = {
    query: query ?? '',
    grpc: grpc ?? '',
    http: http ?? '',
    async [Symbol.asyncDispose]() {},
  };
  return { program, running };
}

async function startOwn(program: string): Promise<Jaeger> {
  const directory = await mkdtemp(path.join(tmpdir(), 'gatehouse-jaeger-'));
  const [query = 0, queryGrpc = 0, grpc = 0, http = 0] = await freePorts(4);
  const config = path.join(directory, 'jaeger.yaml');
  await writeFile(config, configText({ query, queryGrpc, grpc, http }));
  const child = spawn(program, ['--config', config], { stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = once(child, 'exit');
  const said: string[] = [];
  const ready = Promise.withResolvers<void>();
  createInterface({ input: child.stderr }).on('line', line => {
    said.push(line);
    if (line.includes('Everything is ready')) ready.resolve();
  });
  child.on('error', ready.reject);
  child.on('exit', status =>
    ready.reject(new Error(`${program} ended with status ${status}:\n${said.slice(-20).join('\n')}`)),
  );
  const timer = setTimeout(() => ready.reject(new Error(`${program} is not ready in time`)), PATIENCE);
  await ready.promise.finally(() => clearTimeout(timer));
  return {
    query: `http://127.0.0.1:${query}`,
    grpc: `http://127.0.0.1:${grpc}`,
    http: `http://127.0.0.1:${http}`,
    async [Symbol.asyncDispose]() {
      child.kill();
      await ended;
      await rm(directory, { recursive: true, force: true });
    },
  };
}

interface Ports {
  readonly query: number;
  readonly queryGrpc: number;
  readonly grpc: number;
  readonly http: number;
}

/** Without a batch processor, so that what was accepted is stored; with the clock-skew rule people switch on. */
function configText({ query, queryGrpc, grpc, http }: Ports): string {
  return `service:
  extensions: [jaeger_storage, jaeger_query]
  pipelines:
    traces: {receivers: [otlp], exporters: [jaeger_storage_exporter]}
  telemetry:
    metrics: {level: none}
    logs: {level: info}
extensions:
  jaeger_query:
    storage: {traces: memory}
    max_clock_skew_adjust: 30s
    http: {endpoint: "127.0.0.1:${query}"}
    grpc: {endpoint: "127.0.0.1:${queryGrpc}"}
  jaeger_storage:
    backends:
      memory: {memory: {max_traces: 100000}}
receivers:
  otlp:
    protocols:
      grpc: {endpoint: "127.0.0.1:${grpc}"}
      http: {endpoint: "127.0.0.1:${http}"}
exporters:
  jaeger_storage_exporter: {trace_storage: memory}
`;
}

/** Free a moment ago: all are held until the last is known. */
async function freePorts(count: number): Promise<readonly number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer().listen(0, '127.0.0.1');
      await once(server, 'listening');
      return server;
    }),
  );
  return Promise.all(
    servers.map(async server => {
      const address = server.address();
      server.close();
      await once(server, 'close');
      return typeof address === 'object' && address !== null ? address.port : 0;
    }),
  );
}
