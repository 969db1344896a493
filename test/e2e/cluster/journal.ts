/**
 * The code host's own record of who changed what: a hook in each bare repository writes one line per ref that really changed,
 * with the processes that stand above the change.
 *
 *     1795000000123456789 4711,4700,1 <old> <new> refs/heads/master
 *
 * A push of the gate is below the process that pushed, so every effect has an author, regardless of that process's own records.
 */
import { type FSWatcher, watch } from 'node:fs';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

interface RefChange {
  /** Nanoseconds since the epoch: when the host had applied it. */
  readonly at: bigint;
  readonly repository: string;
  readonly ref: string;
  readonly old: string;
  readonly new: string;
  /** Processes above the change, nearest first; those that had ended already are missing. */
  readonly processes: readonly number[];
}

const HOOK = (file: string, repository: string) => `#!/bin/sh
# Only what really happened.
[ "$1" = committed ] || exit 0
above=; each=$$
while [ "\${each:-1}" -gt 1 ]; do
  above="$above$each,"; parent=
  while read -r key value _; do [ "$key" = PPid: ] && parent=$value && break; done </proc/$each/status
  each=$parent
done 2>/dev/null
now=$(date +%s%N)
while read -r old new ref; do printf '%s %s %s %s %s %s\\n' "$now" "\${above:-0,}" "${repository}" "$old" "$new" "$ref"; done >>${file}
exit 0
`;

/** Journals from now on. */
export async function installJournal(bare: string, repository: string, file: string): Promise<void> {
  const hook = path.join(bare, 'hooks/reference-transaction');
  await mkdir(path.dirname(hook), { recursive: true });
  await writeFile(hook, HOOK(file, repository));
  await chmod(hook, 0o755);
}

export interface Journal extends Disposable {
  /** In the order they happened, as far as read. */
  readonly changes: readonly RefChange[];
  /** Reads what was added. */
  read(): Promise<readonly RefChange[]>;
  /** Called with each new one, soon after it happened. */
  onChange(listener: (change: RefChange) => void): Disposable;
}

export async function openJournal(file: string): Promise<Journal> {
  await writeFile(file, '', { flag: 'a' });
  const changes: RefChange[] = [];
  const listeners = new Set<(change: RefChange) => void>();
  let reading: Promise<unknown> = Promise.resolve();

  async function readOn(): Promise<readonly RefChange[]> {
    const text = await readFile(file, 'utf8');
    const complete = text
      .slice(0, text.lastIndexOf('\n') + 1)
      .split('\n')
      .filter(line => line !== '');
    for (const line of complete.slice(changes.length)) {
      const change = parseLine(line);
      changes.push(change);
      for (const listener of [...listeners]) listener(change);
    }
    return changes;
  }
  function read(): Promise<readonly RefChange[]> {
    const next = reading.then(readOn);
    reading = next.catch(() => {}); // the caller has it; the next reading starts anew
    return next;
  }
  const watcher: FSWatcher = watch(file, () => void read());
  return {
    changes,
    read,
    onChange(listener) {
      listeners.add(listener);
      const stack = new DisposableStack();
      stack.defer(() => void listeners.delete(listener));
      return stack;
    },
    [Symbol.dispose]: () => watcher.close(),
  };
}

function parseLine(line: string): RefChange {
  const [at = '0', above = '', repository = '', old = '', next = '', ref = ''] = line.split(' ');
  const processes = above
    .split(',')
    .map(Number)
    .filter(pid => pid > 0);
  return { at: BigInt(at), repository, ref, old, new: next, processes };
}
