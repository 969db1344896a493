/**
 * The service's own lines in a build's log: phases, results, why something did not start. The output of the playbooks
 * themselves is written by the spawner, to the same file, while a playbook runs; never both at once.
 */
import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Clock, toMilliseconds } from '../lib/clock.ts';
import { completeMarkOf } from './log-file.ts';
import { stampOf } from './spawner/line-log.ts';

export interface JobLog {
  readonly path: string;
  line(text: string): Promise<void>;
  /** What the spawner wrote of the build's allowance. */
  count(bytes: number): void;
  /** Bytes of output the build may still write. */
  remaining(): number;
  /** No more lines will come. */
  close(): Promise<void>;
}

export async function openJobLog(path: string, limit: number, clock: Clock): Promise<JobLog> {
  await mkdir(dirname(path), { recursive: true });
  let used = 0;
  return {
    path,
    async line(text) {
      const stamp = stampOf(new Date(toMilliseconds(clock.now())));
      const lines = text.split('\n').map(line => `${stamp}${line}\n`);
      await appendFile(path, lines.join(''));
    },
    count(bytes) {
      used += bytes;
    },
    remaining: () => Math.max(0, limit - used),
    close: () => writeFile(completeMarkOf(path), ''),
  };
}
