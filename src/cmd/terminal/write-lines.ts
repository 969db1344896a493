import type { Io } from './io.ts';

/** Waits for a slow reader. */
export async function write(io: Pick<Io, 'stdout'>, lines: readonly string[]): Promise<void> {
  if (lines.length === 0) return;
  const taken = io.stdout.write(`${lines.join('\n')}\n`);
  if (taken === false)
    await new Promise<void>(resolve => {
      if (io.stdout.once === undefined) resolve();
      else io.stdout.once('drain', resolve);
    });
}
