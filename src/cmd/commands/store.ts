/** `gatehouse store dump|restore`: saves the state of a stopped installation, or moves it to another store. */
import type { Command } from 'commander';
import { toMilliseconds } from '../../lib/clock.ts';
import { randomIds } from '../../lib/ids.ts';
import { DumpError, dumpLines, parseDumpHead, parseDumpNodes } from '../../store/dump-format.ts';
import { StoreError } from '../../store/port.ts';
import { type CopiedNode, emptyTree, persistentNodes, readTree, writeTree } from '../../store/tree-copy.ts';
import { type Io, print, type TextStream } from '../terminal/io.ts';
import { VERSION } from '../version.ts';
import { DEFAULT_CONFIG } from './find-socket.ts';
import { linesOf } from './lines-of.ts';
import { type Refused, refused } from './refused.ts';
import { complain } from './session.ts';
import {
  failureText,
  openSource,
  openTarget,
  type StoppedOptions,
  type StoppedStore,
} from './stopped-store.ts';

const INTERRUPTED = 130;

const EXAMPLES = `
Examples:
  gatehouse store dump -c /etc/gatehouse/gatehouse.conf > gatehouse.dump
  gatehouse store restore -c /etc/gatehouse/gatehouse.conf < gatehouse.dump
  gatehouse store dump -c old.conf | gatehouse store restore -c new.conf

Both need a stopped service; restore writes only into an empty store, and either the complete dump or nothing.`;

type Done = (status: number) => void;
type Work = (options: StoppedOptions) => Promise<number | Refused>;

/**
 * @param done gets the exit status: 1 with one line for the reason, 130 when Ctrl-C ends it. A failed restore removes what it
 * wrote, or warns that it could not.
 */
export function addStoreCommands(program: Command, io: Io, done: Done): void {
  const store = program
    .command('store')
    .summary('save or move the state of a stopped service')
    .description(
      'Saves the state of a stopped service (items, requests, events, outboxes) to a file, or moves it to another store.',
    )
    .addHelpText('after', EXAMPLES);
  store
    .command('dump')
    .summary('write the state to standard output, as lines of JSON')
    .description('Writes the state of a stopped installation to standard output, as lines of JSON.')
    .option('-c, --config <file>', 'settings file', DEFAULT_CONFIG)
    .addHelpText('after', EXAMPLES)
    .action(async ({ config }: { config: string }) => done(await run(io, options => dump(config, options))));
  store
    .command('restore')
    .summary('read a dump from standard input into an empty store')
    .description('Reads the output of "gatehouse store dump" from standard input into an empty store.')
    .option('-c, --config <file>', 'settings file', DEFAULT_CONFIG)
    .addHelpText('after', EXAMPLES)
    .action(async ({ config }: { config: string }) =>
      done(await run(io, options => restore(config, options))),
    );
}

async function run(io: Io, work: Work): Promise<number> {
  const signal = io.interrupted();
  await using stack = new AsyncDisposableStack();
  try {
    const outcome = await work({ io, signal, stack });
    return typeof outcome === 'number' ? outcome : complain(io, outcome.text);
  } catch (error) {
    if (signal.aborted) return INTERRUPTED;
    if (error instanceof DumpError) return complain(io, error.message);
    return complain(io, failureText(error, 'the store'));
  }
}

async function dump(config: string, options: StoppedOptions): Promise<number | Refused> {
  const source = await openSource(config, options);
  if (source.kind === 'refused') return source;
  const { io, signal } = options;
  const { store, root, name } = source.stopped;
  const kinds = new Map<string, number>();
  const at = new Date(toMilliseconds(io.clock.now())).toISOString();
  const nodes = counted(persistentNodes(readTree(store, root)), kinds, signal);
  let last: string | undefined;
  for await (const line of dumpLines({ release: VERSION, root, at }, nodes)) {
    if (last !== undefined) await writeLine(io.stdout, last);
    last = line;
  }
  // The last line marks the dump as complete, so it is written only after this check.
  const running = await source.stopped.running();
  if (running !== undefined) return refused(`the dump is incomplete: ${running}`);
  if (last !== undefined) await writeLine(io.stdout, last);
  io.stderr.write(`dumped from ${name}:\n${kindsText(kinds)}\n`);
  return 0;
}

async function restore(config: string, options: StoppedOptions): Promise<number | Refused> {
  const { io } = options;
  const lines = linesOf(io.stdin?.() ?? []);
  const first = await lines.next();
  const head = parseDumpHead(first.done === true ? undefined : first.value);
  const target = await openTarget(config, options);
  if (target.kind === 'refused') return target;
  const different = otherRoot(head.root, target.stopped.root);
  if (different !== undefined) return different;
  const kinds = await fill(target.stopped, parseDumpNodes(lines), options);
  print(
    io,
    `restored to ${target.stopped.name}, as it was at ${head.at} (release ${head.release}):\n${kindsText(kinds)}`,
  );
  return 0;
}

async function fill(
  { store, root, name }: StoppedStore,
  nodes: AsyncIterable<CopiedNode>,
  { io, signal }: StoppedOptions,
): Promise<ReadonlyMap<string, number>> {
  const kinds = new Map<string, number>();
  try {
    await writeTree(store, root, counted(nodes, kinds, signal), randomIds());
    return kinds;
  } catch (error) {
    await removePart(error);
    throw error;
  }

  async function removePart(reason: unknown): Promise<void> {
    try {
      // After NodeExists another process is writing there, too: its nodes must not be removed.
      if (!(reason instanceof StoreError && reason.code === 'NodeExists'))
        return await emptyTree(store, root);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
    }
    io.stderr.write(
      `warning: ${name} holds an incomplete dump below ${root}; remove it before you try again\n`,
    );
  }
}

/** A staged commit names absolute paths, so a dump cannot move to another root. */
function otherRoot(from: string, to: string): Refused | undefined {
  if (from === to) return undefined;
  return refused(`the dump has root ${from} and the target has root ${to}; set root = ${from} there`);
}

async function* counted(
  nodes: AsyncIterable<CopiedNode>,
  kinds: Map<string, number>,
  signal: AbortSignal,
): AsyncGenerator<CopiedNode, void, undefined> {
  for await (const node of nodes) {
    signal.throwIfAborted();
    const kind = kindOf(node.data);
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    yield node;
  }
}

const BARE = 'other nodes';

/** Kind of the record in a node, read from its envelope: see `src/model/codec/record.ts`. */
function kindOf(data: Uint8Array): string {
  return /^\{"k":"([a-z-]+)"/.exec(Buffer.from(data.subarray(0, 60)).toString())?.[1] ?? BARE;
}

/** Most first. */
function kindsText(kinds: ReadonlyMap<string, number>): string {
  const sorted = [...kinds].sort(([a, n], [b, m]) => Number(a === BARE) - Number(b === BARE) || m - n);
  return sorted.map(([kind, count]) => `${String(count).padStart(8)}  ${kind}`).join('\n');
}

async function writeLine(stream: TextStream, line: string): Promise<void> {
  if (stream.write(`${line}\n`) !== false || stream.once === undefined) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  stream.once('drain', resolve);
  await promise;
}
