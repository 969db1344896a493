import { readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Processes of this machine with `word` as an argument, as `<pid> <command line>`. */
export async function processesWith(word: string): Promise<string[]> {
  return (await readdir('/proc')).filter(name => /^\d+$/.test(name)).flatMap(pid => withArgument(pid, word));
}

/**
 * Whether no process with `word` is left: looks at all processes only when the ones it knows are gone.
 *
 *     await until(goneWith('4711'), 'the job to be gone');
 */
export function goneWith(word: string): () => Promise<true | undefined> {
  let known: readonly string[] | undefined;
  return async () => {
    known = known?.flatMap(line => withArgument(line.split(' ', 1).join(), word));
    if (known === undefined || known.length === 0) known = await processesWith(word);
    return known.length === 0 ? true : undefined;
  };
}

/** None: it has gone meanwhile, or has other arguments. The kernel answers from memory. */
function withArgument(pid: string, word: string): readonly string[] {
  try {
    const line = readFileSync(join('/proc', pid, 'cmdline'), 'latin1');
    return line.split('\0').includes(word) ? [`${pid} ${line.replaceAll('\0', ' ')}`] : [];
  } catch {
    return [];
  }
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
