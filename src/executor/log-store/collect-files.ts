/**
 * Keeps what a job left in `ZUUL_LOG_DIR`, within the bounds of its executor, and the inventory of the build. To be called when nothing of the
 * job runs any more, and before its directory is removed. What is left out is counted in the log, never a reason to fail a build.
 */
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import type { KeptFile, KeptFiles } from '../../model/kept-files.ts';
import type { BuildPlaces } from '../build-places.ts';
import type { JobLog } from '../job-log.ts';
import { keepFile } from './keep-file.ts';
import { filesDirectoryOf, keptFileOf, listOf } from './kept-files.ts';
import { syncFiles } from './sync-files.ts';
import { walkFiles } from './walk-files.ts';

/** One build that has ended. */
export interface LeftFiles {
  readonly logDir: string;
  readonly build: string;
  readonly places: Pick<BuildPlaces, 'logs' | 'info'>;
  readonly masks: readonly string[];
  /** Null: no limit. */
  readonly mostBytes: number | null;
  /** Aborts when the build is not this executor's any more. */
  readonly signal: AbortSignal;
  readonly log: Pick<JobLog, 'line'>;
  /** Name of the file with the variables, below `info`. */
  readonly variables: string;
  /** Default {@link syncFiles}. */
  readonly sync?: (paths: readonly string[]) => Promise<void>;
}

const MOST_FILES = 10_000;
/** Opened, whether or not they are kept. */
const MOST_OPENED = 2 * MOST_FILES;
/** Those are made here, or are the executor's. */
const RESERVED: ReadonlySet<string> = new Set(['job-output.txt']);
const INVENTORY = 'zuul-info/inventory.yaml';

/** @throws Error of the file system. */
export async function collectFiles(left: LeftFiles): Promise<void> {
  await mkdir(filesDirectoryOf(left.logDir, left.build), { recursive: true });
  const { files, leftOut } = await keepAll(left);
  if (left.signal.aborted) return;
  if (!files.some(({ path }) => path === INVENTORY)) files.push(...(await inventory(left)));
  await store(left, { files: files.toSorted((a, b) => (a.path < b.path ? -1 : 1)) });
  if (leftOut > 0) await left.log.line(leftOutText(leftOut, left));
}

async function keepAll(left: LeftFiles): Promise<{ readonly files: KeptFile[]; readonly leftOut: number }> {
  const files: KeptFile[] = [];
  let leftOut = 0;
  let room = left.mostBytes ?? Number.POSITIVE_INFINITY;
  const skip = () => {
    leftOut += 1;
  };
  for await (const { path, handle } of walkFiles(left.places.logs, skip)) {
    try {
      if (left.signal.aborted || files.length + leftOut >= MOST_OPENED) break;
      const { size, mtimeMs } = await handle.stat();
      const isWanted = files.length < MOST_FILES && size <= room && !RESERVED.has(path);
      const kept = isWanted
        ? await keepFile(left, handle.createReadStream({ autoClose: false }), room)
        : undefined;
      room -= kept?.bytes ?? 0;
      if (kept === undefined) skip();
      else files.push({ path, ...kept, modified: Math.floor(mtimeMs / 1000) });
    } finally {
      await handle.close();
    }
  }
  return { files, leftOut };
}

function leftOutText(leftOut: number, { mostBytes }: Pick<LeftFiles, 'mostBytes'>): string {
  const entries = `${leftOut >= MOST_FILES ? 'at least ' : ''}${leftOut} ${leftOut === 1 ? 'entry is' : 'entries are'}`;
  const most = `${MOST_FILES} files or ${mostBytes ?? 'any number of'} bytes`;
  return `of ZUUL_LOG_DIR ${entries} not kept: more than ${most}, or no plain file with a plain name`;
}

/** As Zuul's jobs have it, but for messages of commits: the hosts with their variables. JSON is YAML. */
async function inventory(left: LeftFiles): Promise<readonly KeptFile[]> {
  const text = await readFile(join(left.places.info, left.variables), 'utf8').catch(missing);
  // The build ended before its variables were known.
  if (text === undefined) return [];
  const { zuul: whole, vars, nodes } = JSON.parse(text);
  const zuul: unknown = JSON.parse(JSON.stringify(whole), withoutMessages);
  const document = JSON.stringify({ all: { hosts: nodes, vars: { ...vars, zuul } } }, null, 2);
  const kept = await keepFile(left, Readable.from([Buffer.from(`${document}\n`)]), Number.POSITIVE_INFINITY);
  return kept === undefined ? [] : [{ path: INVENTORY, ...kept, modified: Math.floor(nowInSeconds()) }];
}

/** They may hold more than who reads a tenant sees of its changes. */
function withoutMessages(name: string, value: unknown): unknown {
  return name === 'message' || name === 'change_message' ? undefined : value;
}

function nowInSeconds(): number {
  return performance.timeOrigin / 1000 + performance.now() / 1000;
}

/** Appears whole, and stays: the contents are on the disk before it, and it is before the build is reported. */
async function store({ logDir, build, sync = syncFiles }: LeftFiles, kept: KeptFiles): Promise<void> {
  const list = listOf(logDir, build);
  const part = `${list}.part`;
  if (kept.files.length === 0) return rm(filesDirectoryOf(logDir, build), { recursive: true, force: true });
  const contents = new Set(kept.files.map(({ sha256 }) => keptFileOf(logDir, build, sha256)));
  await sync([...contents, filesDirectoryOf(logDir, build)]);
  await writeFile(part, JSON.stringify(kept));
  await sync([part]);
  await rename(part, list);
  await sync([dirname(list)]);
}

function missing(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
  throw error;
}
