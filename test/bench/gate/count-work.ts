/**
 * Counts the work of a service in its own process: processes started (also those that its helpers start for it), requests to code
 * hosts, multi-writes to the embedded store. To be imported before anything that starts processes.
 */
import childProcess, { type ChildProcess } from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { EmbeddedSession } from '../../../src/store/embedded/session.ts';
import type { Operation } from '../../../src/store/port.ts';
import { operationBytes } from '../../../src/store/size.ts';

/** Since the start of the process. */
export interface WorkCounts {
  /** By what they do, e.g. `git push`, `job`. */
  readonly processes: Readonly<Record<string, number>>;
  readonly transactions: number;
  /** Reads of the embedded store, each of one or many nodes. */
  readonly reads: number;
  /** Paths, data and framing of all operations. */
  readonly bytes: number;
  /** The same by what is written, e.g. `set items/*`. */
  readonly written: Readonly<Record<string, { readonly operations: number; readonly bytes: number }>>;
  /** Of the helpers, through which nearly all processes are started. */
  readonly helpers: readonly number[];
}

const processes: Record<string, number> = {};
const helpers: number[] = [];
let transactions = 0;
let reads = 0;
let bytes = 0;
const written: Record<string, { operations: number; bytes: number }> = {};

export function workCounts(): WorkCounts {
  return {
    processes: { ...processes },
    transactions,
    reads,
    bytes,
    written: structuredClone(written),
    helpers: [...helpers],
  };
}

function started(what: string): void {
  processes[what] = (processes[what] ?? 0) + 1;
}

/** Both helpers are asked with a message `start`. */
function watchHelper(child: ChildProcess): ChildProcess {
  if (child.pid !== undefined) helpers.push(child.pid);
  const send = child.send.bind(child);
  child.send = ((message: object, ...rest: []) => {
    if ('type' in message && message.type === 'start') started(labelOf(message as Start));
    return send(message, ...rest);
  }) as typeof child.send;
  return child;
}

interface Start {
  readonly request?: { readonly file: string; readonly args: readonly string[] };
  readonly spec?: { readonly argv: readonly string[]; readonly output: { readonly kind: string } };
}

function labelOf({ request, spec }: Start): string {
  if (spec?.output.kind === 'log') return 'job';
  const argv = request === undefined ? (spec?.argv ?? []) : [request.file, ...request.args];
  const git = argv.findIndex(word => word === 'git' || word.endsWith('/bin/git'));
  if (git < 0) return path.basename(argv[0] ?? '');
  const rest = argv.slice(git + 1);
  return `git ${rest.find((word, at) => !word.startsWith('-') && rest[at - 1] !== '-c' && rest[at - 1] !== '-C') ?? ''}`;
}

function wrote(operation: Operation): void {
  const size = operationBytes(operation);
  bytes += size;
  const place = operation.path.split('/').slice(-2).map(withoutIds).join('/');
  const what = `${operation.kind} ${place}`;
  const so = written[what] ?? { operations: 0, bytes: 0 };
  written[what] = { operations: so.operations + 1, bytes: so.bytes + size };
}

/** What distinguishes one record of a kind from another. */
function withoutIds(segment: string): string {
  return segment === '' || /[0-9%]/.test(segment) ? '*' : segment;
}

function instrument(): void {
  const { fork, spawn, execFile } = childProcess;
  childProcess.fork = ((...args: Parameters<typeof fork>) => {
    started('helper');
    return watchHelper(fork(...args));
  }) as typeof fork;
  childProcess.spawn = ((...args: Parameters<typeof spawn>) => {
    started(`own ${path.basename(args[0])}`);
    return spawn(...args);
  }) as typeof spawn;
  childProcess.execFile = ((...args: Parameters<typeof execFile>) => {
    started(`own ${path.basename(args[0])}`);
    return execFile(...args);
  }) as typeof execFile;
  syncBuiltinESMExports();
  const multi = EmbeddedSession.prototype.multi;
  EmbeddedSession.prototype.multi = function counted(operations) {
    transactions += 1;
    for (const operation of operations) wrote(operation);
    return multi.call(this, operations);
  };
  for (const name of ['get', 'children', 'getMany'] as const) countReads(name);
}

function countReads(name: 'get' | 'children' | 'getMany'): void {
  const read = EmbeddedSession.prototype[name] as (this: EmbeddedSession, what: never) => Promise<never>;
  EmbeddedSession.prototype[name] = function counted(this: EmbeddedSession, what: never) {
    reads += 1;
    return read.call(this, what);
  };
}

instrument();
