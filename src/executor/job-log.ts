/**
 * The service's own lines in a build's log: phases, results, why something did not start. The output of the playbooks
 * themselves is written by the spawner, to the same file, while a playbook runs; never both at the same time. The service's
 * lines are marked (`src/lib/log-line.ts`): a job cannot write one.
 */
import { existsSync } from 'node:fs';
import { mkdir, open, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Clock, toMilliseconds } from '../lib/clock.ts';
import { logStamp } from '../lib/log-line.ts';
import { completeMarkOf } from './log-file.ts';

/** The log file of one build, open from its start to its end. */
export interface JobLog {
  readonly path: string;
  /**
   * Appends `text` with a stamp before each line; those after the first are indented, so that a name with a line end in it, which a
   * stranger may have chosen, is taken for no line of ours. Not counted against the build's allowance.
   *
   * @throws Error of the file system.
   */
  line(text: string): Promise<void>;
  /** Subtracts what the spawner wrote from the build's allowance. */
  count(bytes: number): void;
  /** Bytes of output the build may still write. */
  remaining(): number;
  /** Marks the log as complete, when it is on the disk. */
  close(): Promise<void>;
}

/** Names and reasons in these lines may come from strangers: they must not control a terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** Of a build whose executor died: nothing will follow, and readers and the log store need not wait. @throws Error of the file system. */
export async function endLog(path: string, clock: Clock): Promise<void> {
  if (!existsSync(path) || existsSync(completeMarkOf(path))) return;
  const log = await openJobLog(path, 0, clock);
  await log.line('the executor was killed here, and the build with it');
  await log.close();
}

/** @param path see `logPathOf`; its directory is created. @param limit bytes of output that all playbooks may write together. */
export async function openJobLog(path: string, limit: number, clock: Clock): Promise<JobLog> {
  await mkdir(dirname(path), { recursive: true });
  const file = await open(path, 'a');
  let used = 0;
  return {
    path,
    async line(text) {
      const stamp = logStamp(new Date(toMilliseconds(clock.now())), 'executor');
      const lines = text
        .split('\n')
        .map((line, index) => `${stamp}${index === 0 ? '' : '  '}${line.replaceAll(CONTROLS, '�')}\n`);
      await file.appendFile(lines.join(''));
    },
    count(bytes) {
      used += bytes;
    },
    remaining: () => Math.max(0, limit - used),
    async close() {
      await file.sync();
      await file.close();
      await writeFile(completeMarkOf(path), '');
    },
  };
}
