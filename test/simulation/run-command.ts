/** `npm run sim` in a process of its own: the platform's clock and chance are replaced in it. */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { COMMAND_ENDED } from './command-ended.ts';

const MAIN = path.join(import.meta.dirname, 'main.ts');
const LAST_LINE = new RegExp(`^${COMMAND_ENDED}(\\d+)\\n$`, 'm');

export interface Ended {
  readonly code: number | null;
  readonly output: string;
}

/** A process that runs commands one after another, until it is disposed of. */
export interface Sim extends AsyncDisposable {
  run(...args: readonly string[]): Promise<Ended>;
}

export function startSim(): Sim {
  const child = spawn(process.execPath, [MAIN, '--commands'], { stdio: 'pipe' });
  let output = '';
  let ended: ((ended: Ended) => void) | undefined;
  for (const from of [child.stdout, child.stderr])
    from.on('data', (data: Buffer) => {
      output += data.toString();
      const [last, code] = LAST_LINE.exec(output) ?? [];
      if (last === undefined) return;
      ended?.({ code: Number(code), output: output.slice(0, -last.length) });
    });
  const closed = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.stdin.once('error', reject);
    child.once('close', code => resolve({ code, output }));
  });
  return {
    async run(...args) {
      output = '';
      const answered = new Promise<Ended>(resolve => {
        ended = resolve;
      });
      child.stdin.write(`${JSON.stringify(args)}\n`);
      return await Promise.race([answered, closed]);
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await closed;
    },
  };
}

/** One command in a process of its own. */
export async function sim(...args: readonly string[]): Promise<Ended> {
  await using started = startSim();
  return await started.run(...args);
}
