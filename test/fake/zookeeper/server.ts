/**
 * A real ZooKeeper as a process of its own, for tests that break it.
 *
 *     await using server = await startZooKeeper();
 *     const source = openZooKeeper({ hosts: [{ host: server.host, port: server.port }], ... });
 *     await server.kill();       // kill -9; what was answered is still on disk
 *     await server.restart();    // the same data and port
 *     server.stop();             // SIGSTOP: the port accepts, without an answer
 *     server.cont();
 *
 * It ends with the test process, however that ends, and takes its data along.
 */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type ServerSettings, tlsConfiguration, writeConfiguration } from './configuration.ts';
import { type FoundServer, findServer } from './find-server.ts';
import { fourLetter, serving } from './four-letter.ts';
import { freePort } from './free-port.ts';
import { type JavaProcess, startJava } from './server-process.ts';
import { makeSharedArchive, sharedArchive } from './shared-archive.ts';

export interface ZooKeeperOptions {
  /** Default: what {@link findServer} finds. */
  readonly server?: FoundServer;
  /** Milliseconds; sessions may ask for two of them and more, and end at a multiple. Default 250. */
  readonly tickMs?: number;
  /** True: data on a disk, each write synchronised before it is answered. Default false: in memory where the machine has /dev/shm. */
  readonly durable?: boolean;
  /** A second port that speaks TLS and wants a certificate of the same authority from its clients. */
  readonly tls?: { readonly ca: Buffer; readonly cert: Buffer; readonly key: Buffer };
  /** More lines of zoo.cfg. */
  readonly config?: Readonly<Record<string, string>>;
  /** Default: `-Xmx256m`. */
  readonly javaOptions?: readonly string[];
}

export interface ZooKeeperServer extends AsyncDisposable {
  readonly host: '127.0.0.1';
  readonly port: number;
  /** The port that speaks TLS; undefined without the option. */
  readonly tlsPort: number | undefined;
  /** Where it keeps snapshots and its transaction log. */
  readonly dataDirectory: string;
  /** Of the Java process; another one after a restart. */
  pid(): number;
  /** kill -9, and waits until it is gone. */
  kill(): Promise<void>;
  /** SIGTERM, and waits until it is gone. */
  end(): Promise<void>;
  /** SIGSTOP: connections stay, nothing is answered. */
  stop(): void;
  /** SIGCONT. */
  cont(): void;
  /** Kills it when it still runs, starts it again on the same data and port, and waits until it serves. */
  restart(): Promise<void>;
  /** Answer to a four-letter word; undefined when there is none. */
  ask(word: string): Promise<string | undefined>;
  /** The last of what it printed. */
  output(): string;
}

export async function startZooKeeper(options: ZooKeeperOptions = {}): Promise<ZooKeeperServer> {
  const found = options.server ?? neededServer();
  for (let attempt = 1; ; attempt++) {
    const folder = await newFolder(options.durable ?? false);
    const tlsPort = options.tls === undefined ? undefined : await freePort();
    const settings: ServerSettings = {
      folder,
      clientPort: await freePort(),
      tickMs: options.tickMs ?? 250,
      more: { ...(await tlsConfiguration(folder, tlsPort, options.tls)), ...options.config },
      ...(tlsPort === undefined ? {} : { tlsPort }),
    };
    const server = createServer(found, settings, options);
    try {
      await server.restart();
      return server;
    } catch (error) {
      const output = server.output();
      await server[Symbol.asyncDispose]();
      // Another process took the port between our check and the start.
      if (attempt < 5 && output.includes('Address already in use')) continue;
      throw new Error(`ZooKeeper did not start: ${output}`, { cause: error });
    }
  }
}

/** Makes the next servers cheaper to start, once for this machine's Java and server. */
export async function prepareToStart(found: FoundServer): Promise<void> {
  await makeSharedArchive(found, async archiving => {
    await using server = await startZooKeeper({ server: found, javaOptions: ['-Xmx256m', ...archiving] });
    await server.end();
  });
}

/** @throws Error when this machine has none. */
export function neededServer(): FoundServer {
  const search = findServer();
  if (search.kind === 'none') throw new Error(`no ZooKeeper server: ${search.reason}`);
  return search;
}

/** @param durable on a disk; else in memory where the machine can. */
export async function newFolder(durable: boolean): Promise<string> {
  const parent = !durable && existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
  return await mkdtemp(path.join(parent, 'gatehouse-zookeeper-'));
}

/** A server that is not started yet: `restart` does. `ready` false: it then does not wait until it serves, which a member of an ensemble cannot do alone. */
export function createServer(
  found: FoundServer,
  settings: ServerSettings,
  options: Pick<ZooKeeperOptions, 'durable' | 'javaOptions'>,
  ready = true,
): ZooKeeperServer {
  const { clientPort: port, folder } = settings;
  let running: JavaProcess | undefined;
  const kill = async () => await running?.kill();
  const signal = (name: NodeJS.Signals) => {
    if (running === undefined || running.hasEnded()) throw new Error('the server does not run');
    process.kill(running.pid, name);
  };
  return {
    host: '127.0.0.1',
    port,
    dataDirectory: path.join(folder, 'data'),
    tlsPort: settings.tlsPort,
    pid: () => running?.pid ?? 0,
    kill,
    async end() {
      signal('SIGTERM');
      await running?.ended;
    },
    stop: () => signal('SIGSTOP'),
    cont: () => signal('SIGCONT'),
    async restart() {
      await kill();
      const file = await writeConfiguration(settings);
      const own = javaArguments(found, file, options);
      const started = await startJava(found.java, [...sharedArchive(found), ...own], folder);
      running = started;
      if (ready) await serving(port, started.hasEnded);
    },
    ask: async word => await fourLetter(port, word, 2000),
    output: () => running?.output() ?? '',
    async [Symbol.asyncDispose]() {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Quick to start and small: a test waits for it. */
function javaArguments(
  found: FoundServer,
  file: string,
  { durable = false, javaOptions = ['-Xmx256m'] }: Pick<ZooKeeperOptions, 'durable' | 'javaOptions'>,
): readonly string[] {
  return [
    '-XX:TieredStopAtLevel=1',
    '-XX:+UseSerialGC',
    ...javaOptions,
    `-Dzookeeper.forceSync=${durable ? 'yes' : 'no'}`,
    // Kilobytes: the log is laid out in advance, by default 64 MiB of it.
    '-Dzookeeper.preAllocSize=1024',
    '-Dzookeeper.extendedTypesEnabled=true',
    '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
    '-cp',
    // What is archived has to come first.
    `${found.classPath}:${path.dirname(file)}`,
    'org.apache.zookeeper.server.quorum.QuorumPeerMain',
    file,
  ];
}
