import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Processes of this machine with `word` as an argument, as `<pid> <command line>`. */
export async function processesWith(word: string): Promise<string[]> {
  const found: string[] = [];
  for (const pid of (await readdir('/proc')).filter(name => /^\d+$/.test(name))) {
    const line = await readFile(join('/proc', pid, 'cmdline'), 'latin1').catch(() => '');
    if (line.split('\0').includes(word)) found.push(`${pid} ${line.replaceAll('\0', ' ')}`);
  }
  return found;
}

/** Names of the programs that run with a mark in the environment they were started with. */
export async function markedProcesses(mark: string): Promise<string[]> {
  const found: string[] = [];
  for (const pid of (await readdir('/proc')).filter(name => /^\d+$/.test(name))) {
    const read = (file: string) => readFile(join('/proc', pid, file), 'latin1').catch(() => '');
    if ((await read('environ')).split('\0').includes(`GATEHOUSE_PROCESS=${mark}`))
      found.push((await read('comm')).trim());
  }
  return found;
}
