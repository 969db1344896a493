/**
 * Gerrit's SSH: a real server with a key of its own, which knows accounts by their keys and runs `gerrit` commands.
 *
 *     await using ssh = await startFakeSsh({ account: name => ({ keys: [pair.public], mayStream: true }) });
 *     ssh.send({ type: 'patchset-created', … });          to every open `gerrit stream-events`
 *     ssh.network.drop();                                 all connections break
 *     ssh.stream.double(1);                               the next event is sent twice
 */
import { timingSafeEqual } from 'node:crypto';
import { createServer as createTcpServer } from 'node:net';
import ssh2, { type AuthContext, type ServerChannel, type Connection as SshConnection } from 'ssh2';
import { type NetworkFront, openFront } from './front.ts';
import { createStreamFaults, type StreamFaults } from './stream-faults.ts';

/** An account as SSH sees it. */
export interface SshAccount {
  /** Public keys in OpenSSH's form, `ssh-ed25519 AAAA… comment`. */
  readonly keys: readonly string[];
  /** It has the capability Stream Events. */
  readonly mayStream: boolean;
}

/** What a command wrote, and its exit status. */
export interface SshAnswer {
  readonly out?: string;
  readonly err?: string;
  /** Null: the connection breaks. */
  readonly code: number | null;
}

export interface FakeSshDeps {
  /** Undefined: there is no such account. */
  readonly account: (username: string) => SshAccount | undefined;
  /** Commands behind `gerrit`, e.g. `query`. */
  readonly commands?: {
    readonly [name: string]: (
      args: readonly string[],
      username: string,
      input: string,
    ) => Promise<SshAnswer> | SshAnswer;
  };
  /** git's own command `git-upload-pack PATH`. @param protocol value of `GIT_PROTOCOL` @returns its exit status; null: the connection breaks */
  readonly uploadPack?: (
    path: string,
    username: string,
    channel: ServerChannel,
    protocol: string,
  ) => Promise<number | null>;
  /** Default: every account sees every event. */
  readonly sees?: (username: string, event: object) => boolean;
  /** Default 3.2.0. */
  readonly version?: string;
  /** Default: a free one. */
  readonly hostKey?: KeyPair;
}

/** Private key as PEM, public key as one line. */
export interface KeyPair {
  readonly private: string;
  readonly public: string;
}

export interface FakeSsh extends AsyncDisposable {
  readonly port: number;
  /** Public half of the host's key, `ssh-ed25519 AAAA…`. */
  readonly hostKey: string;
  /** Line for a known_hosts file. */
  readonly knownHosts: string;
  readonly network: NetworkFront;
  readonly stream: StreamFaults;
  /** Streams that are open now. */
  readonly streams: () => number;
  /** To all streams of accounts that see it. */
  send(event: object): void;
  /** As {@link FakeSsh.send}, as it is: garbage, pieces of lines. */
  sendRaw(text: string): void;
  /** Ends all streams as a restart does: without exit status. */
  endStreams(): void;
}

/** Of a user, or of a host. */
export function newKeyPair(type: 'ed25519' | 'ecdsa' | 'rsa' = 'ed25519'): KeyPair {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const pair = generated(type);
    // Of some keys the package writes a form that it cannot read itself.
    if (!(ssh2.utils.parseKey(pair.private) instanceof Error)) return pair;
  }
  throw new Error(`no ${type} key could be read after ${MOST_TRIES} tries`);
}

const MOST_TRIES = 50;

function generated(type: 'ed25519' | 'ecdsa' | 'rsa'): KeyPair {
  const bits = { ed25519: undefined, ecdsa: 256, rsa: 2048 }[type];
  const pair =
    bits === undefined
      ? ssh2.utils.generateKeyPairSync('ed25519')
      : ssh2.utils.generateKeyPairSync(type, { bits });
  return { private: pair.private, public: pair.public.trim() };
}

interface OpenStream {
  readonly username: string;
  readonly channel: ServerChannel;
  readonly connection: SshConnection;
}

export async function startFakeSsh(deps: FakeSshDeps): Promise<FakeSsh> {
  const hostKey = deps.hostKey ?? newKeyPair();
  const streams = new Set<OpenStream>();
  const connections = new Set<SshConnection>();
  const server = new ssh2.Server({ hostKeys: [hostKey.private] }, connection => {
    connections.add(connection);
    connection.on('close', () => connections.delete(connection));
    serve(connection, deps, streams);
  });
  // A listener of our own: it can be closed without waiting for the server's bookkeeping.
  const inner = createTcpServer({ noDelay: true }, socket => server.injectSocket(socket));
  await new Promise<void>(resolve => inner.listen(0, '127.0.0.1', resolve));
  const address = inner.address();
  if (address === null || typeof address === 'string') throw new Error('the SSH server has no port');
  const network = await openFront(address.port);

  let audience: readonly OpenStream[] = [];
  const { faults, send } = createStreamFaults(piece => {
    for (const { channel } of audience) if (channel.writable) channel.write(piece);
  });
  return {
    port: network.port,
    hostKey: hostKey.public,
    knownHosts: `[127.0.0.1]:${network.port} ${hostKey.public}`,
    network,
    stream: faults,
    streams: () => streams.size,
    send(event) {
      audience = [...streams].filter(({ username }) => deps.sees?.(username, event) ?? true);
      send(JSON.stringify(event));
    },
    sendRaw(text) {
      for (const { channel } of streams) channel.write(text);
    },
    endStreams() {
      for (const { connection } of streams) connection.end();
    },
    async [Symbol.asyncDispose]() {
      await network[Symbol.asyncDispose]();
      const closed = new Promise<void>(resolve => inner.close(() => resolve()));
      for (const connection of connections) connection.end();
      await closed;
    },
  };
}

function serve(connection: SshConnection, deps: FakeSshDeps, streams: Set<OpenStream>): void {
  let username = '';
  connection.on('error', () => {});
  connection.on('authentication', context => {
    const account = deps.account(context.username);
    if (!isAccepted(context, account)) return context.reject(['publickey']);
    username = context.username;
    context.accept();
  });
  connection.on('ready', () => {
    connection.on('session', accept => {
      const session = accept();
      let protocol = '';
      session.on('env', (_accept, _refuse, { key, val }) => {
        if (key === 'GIT_PROTOCOL') protocol = val;
      });
      session.on('exec', (take, _refuse, { command }) => {
        const channel = take();
        channel.on('error', () => {});
        if (/^gerrit stream-events\b/.test(command))
          openStream({ username, channel, connection }, deps, streams);
        else void run(command, { username, channel, connection, protocol }, deps);
      });
    });
  });
}

function isAccepted(context: AuthContext, account: SshAccount | undefined): boolean {
  if (context.method !== 'publickey' || account === undefined) return false;
  return account.keys.some(line => {
    const key = ssh2.utils.parseKey(line);
    if (key instanceof Error) return false;
    const known = key.getPublicSSH();
    const isSame = known.length === context.key.data.length && timingSafeEqual(known, context.key.data);
    if (!isSame || context.signature === undefined) return isSame;
    return (
      context.blob !== undefined && key.verify(context.blob, context.signature, context.hashAlgo) === true
    );
  });
}

function openStream(stream: OpenStream, deps: FakeSshDeps, streams: Set<OpenStream>): void {
  const { channel, username } = stream;
  if (deps.account(username)?.mayStream !== true) {
    finish(stream, { err: 'stream events not permitted\n', code: 1 });
    return;
  }
  streams.add(stream);
  const leave = () => streams.delete(stream);
  channel.on('close', leave);
  stream.connection.on('close', leave);
}

interface Running extends OpenStream {
  readonly protocol: string;
}

async function run(command: string, running: Running, deps: FakeSshDeps): Promise<void> {
  const { username, channel, protocol } = running;
  const [first, name = '', ...args] = wordsOf(command);
  if (first === 'git-upload-pack' && deps.uploadPack !== undefined)
    return finish(running, { code: await deps.uploadPack(name, username, channel, protocol) });
  if (first !== 'gerrit') return finish(running, { err: `gerrit: ${first}: not found\n`, code: 127 });
  if (name === 'version')
    return finish(running, { out: `gerrit version ${deps.version ?? '3.2.0'}\n`, code: 0 });
  const perform = deps.commands?.[name];
  if (perform === undefined) return finish(running, { err: `fatal: gerrit: "${name}" not found\n`, code: 1 });
  let input = '';
  if (args.includes('--json') || args.includes('-j'))
    for await (const piece of channel) input += String(piece);
  try {
    finish(running, await perform(args, username, input));
  } catch (error) {
    finish(running, { err: `fatal: ${error instanceof Error ? error.message : String(error)}\n`, code: 128 });
  }
}

function finish(
  { channel, connection }: Pick<OpenStream, 'channel' | 'connection'>,
  { out = '', err = '', code }: SshAnswer,
): void {
  if (code === null) return void connection.end();
  if (out !== '') channel.write(out);
  if (err !== '') channel.stderr.write(err);
  channel.exit(code);
  channel.end();
}

/** As Gerrit splits a command: blanks, `'…'` and `"…"`, `\` before any character. */
function wordsOf(command: string): readonly string[] {
  const found = command.matchAll(/(?:[^\s'"\\]|'[^']*'|"(?:[^"\\]|\\.)*"|\\.)+/gs);
  return [...found].map(([word]) =>
    word.replace(
      /'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)/gs,
      (_, single, double, escaped) => single ?? escaped ?? String(double).replace(/\\(.)/gs, '$1'),
    ),
  );
}
