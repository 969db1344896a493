/** The store of an installation for commands that open it themselves; most need it stopped, so that nothing changes meanwhile. */
import { existsSync } from 'node:fs';
import { systemClock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { readSections } from '../../settings/read-settings.ts';
import { StoreFileError } from '../../store/embedded/journal.ts';
import { COMPONENT_KINDS, type StorePaths, storePaths } from '../../store/paths.ts';
import { type Store, StoreError } from '../../store/port.ts';
import { isHalfCopied } from '../../store/tree-copy.ts';
import { openStoreSource, storeName } from '../service/open-store-source.ts';
import { refusalOfStore } from '../start-failure.ts';
import type { Io } from '../terminal/io.ts';
import { type Refused, refused } from './refused.ts';

/** Milliseconds until a ZooKeeper that does not answer is given up. */
const PATIENCE = 30_000;

/** An open store in which no component is registered. It is closed with {@link StoppedOptions.stack}. */
export interface StoppedStore {
  readonly store: Store;
  readonly root: string;
  /** For people, with its root. */
  readonly name: string;
  /** Text naming registered components; undefined: none. Ask again at the end: one may have started meanwhile. */
  running(): Promise<string | undefined>;
}

/** What the command lends to the opening of a store; it disposes of `stack` itself. */
export interface StoppedOptions {
  readonly io: Io;
  /** Aborts the command. */
  readonly signal: AbortSignal;
  /** Owns everything opened. */
  readonly stack: AsyncDisposableStack;
}

/** To read from: it must exist and be complete. */
export async function openSource(
  config: string,
  options: StoppedOptions,
): Promise<{ readonly kind: 'opened'; readonly stopped: StoppedStore } | Refused> {
  const opened = await openStopped(config, 'read', options);
  if (opened.kind === 'refused') return opened;
  const { store, root, name } = opened.stopped;
  if (await isHalfCopied(store, root))
    return refused(`${name} holds an incomplete dump; remove everything below ${root} and restore again`);
  if (!(await store.children(root))?.length)
    return refused(`${name} has nothing below ${root}; is ${config} the right file?`);
  return opened;
}

/** To write to: it must be empty. */
export async function openTarget(
  config: string,
  options: StoppedOptions,
): Promise<{ readonly kind: 'opened'; readonly stopped: StoppedStore } | Refused> {
  const opened = await openStopped(config, 'write', options);
  if (opened.kind === 'refused') return opened;
  const { store, root, name } = opened.stopped;
  const children = (await store.children(root)) ?? [];
  if (children.length === 0) return opened;
  return refused(
    `${name} already has ${children.slice(0, 3).join(', ')}${children.length > 3 ? ', …' : ''} below ${root}; choose another root or store, or remove those nodes if they are not needed`,
  );
}

/** An existing store in which components may run: one of an ensemble. An embedded one is locked by the process that runs. */
export async function openRunning(
  config: string,
  options: StoppedOptions,
): Promise<{ readonly kind: 'opened'; readonly stopped: StoppedStore } | Refused> {
  return openStopped(config, 'read', options, true);
}

async function openStopped(
  config: string,
  purpose: 'read' | 'write',
  options: StoppedOptions,
  mayRun = false,
): Promise<{ readonly kind: 'opened'; readonly stopped: StoppedStore } | Refused> {
  const { io, signal, stack } = options;
  const read = readSections(config, io.environment, { wanted: ['store'] });
  if (read.kind === 'invalid') return refused(read.errors.join('\nerror: '));
  const { store: where } = read.settings;
  if (where.kind === 'embedded' && purpose === 'read' && !existsSync(where.path))
    return refused(
      `there is no store at ${where.path}; see [store] path and [scheduler] state_dir in ${config}`,
    );
  const name = where.kind === 'embedded' ? `the embedded store ${where.path}` : storeName(where);
  try {
    const opened = await openStoreSource(where, { clock: systemClock(), log: warningsTo(io) });
    if (opened.kind === 'refused') return refused(opened.errors.join('\nerror: '));
    stack.use(opened.source);
    const patience = AbortSignal.timeout(PATIENCE);
    const store = await opened.source.connect('store command', AbortSignal.any([signal, patience]));
    stack.defer(() => store.close());
    const paths = storePaths(where.root);
    const stopped = { store, root: where.root, name, running: () => runningText(store, paths, name) };
    const running = mayRun ? undefined : await stopped.running();
    return running === undefined ? { kind: 'opened', stopped } : refused(running);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof DOMException && error.name === 'TimeoutError')
      return refused(
        `${name} did not answer within ${PATIENCE / 1000} s; start it, or correct [zookeeper] hosts in ${config}`,
      );
    return refused(failureText(error, name));
  }
}

async function runningText(store: Store, paths: StorePaths, name: string): Promise<string | undefined> {
  const some: string[] = [];
  for (const kind of COMPONENT_KINDS)
    for (const node of (await store.children(paths.components(kind))) ?? [])
      some.push(`${kind} on ${node.slice(0, -11)}`);
  if (some.length === 0) return undefined;
  return `${name} is still in use by ${some.join(', ')}; stop all processes of the installation, and after a kill wait until their sessions expire ([zookeeper] session_timeout)`;
}

/** @throws the error itself if it is an internal one, which no setting can fix. */
export function failureText(error: unknown, name: string): string {
  if (error instanceof StoreFileError) return error.message;
  const refusedBy = refusalOfStore(error);
  if (refusedBy !== undefined) return refusedBy;
  if (isOfFileSystem(error)) return `${error.message}; see [store] path and [scheduler] state_dir`;
  if (error instanceof StoreError) return `${name} failed: ${error.message}`;
  throw error;
}

function isOfFileSystem(error: unknown): error is NodeJS.ErrnoException {
  const codes = ['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'ENOTDIR'];
  return error instanceof Error && 'code' in error && codes.some(code => code === error.code);
}

/** Prints a connection's warnings. */
function warningsTo({ stderr }: Pick<Io, 'stderr'>): Log {
  const warn = (_facts: object, text: string): void => void stderr.write(`warning: ${text}\n`);
  const log: Log = { debug() {}, info() {}, warn, error: warn, child: () => log };
  return log;
}
