/** `gatehouse store dump|restore`: saves what is in progress, or moves it to another store, while nothing runs. */
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

Both want the service to be stopped; restore writes only where nothing is, and all of a whole dump or nothing.`;

type Done = (status: number) => void;
type Work = (options: StoppedOptions) => Promise<number | Refused>;

export function addStoreCommands(program: Command, io: Io, done: Done): void {
  const store = program
    .command('store')
    .summary('move or save what is in progress, while the service is stopped')
    .description(
      'Moves what is in progress (items, requests, events, all that waits) from one store to another one, or saves it to a file.',
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
    .description('Reads what "gatehouse store dump" wrote from standard input into an empty store.')
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
  // The last line says that all is well: not before we know.
  const somebody = await source.stopped.running();
  if (somebody !== undefined) return refused(`the dump is not whole: ${somebody}`);
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
    await takeBack(error);
    throw error;
  }

  async function takeBack(reason: unknown): Promise<void> {
    try {
      // Somebody else wrote there, too: what is his is not ours to remove.
      if (!(reason instanceof StoreError && reason.code === 'NodeExists'))
        return await emptyTree(store, root);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
    }
    io.stderr.write(`warning: ${name} holds a part below ${root}; remove that before you try again\n`);
  }
}

/** A commit under way names paths, and would be carried out elsewhere. */
function otherRoot(from: string, to: string): Refused | undefined {
  if (from === to) return undefined;
  return refused(`the state is of root ${from} and the target has root ${to}; set root = ${from} there`);
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

/** Of its record, by the envelope alone: see `src/model/codec/record.ts`. */
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
