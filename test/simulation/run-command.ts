/** `npm run sim` in a process of its own: the platform's clock and chance are replaced in it. */
import { spawn } from 'node:child_process';
import path from 'node:path';

const MAIN = path.join(import.meta.dirname, 'main.ts');

export interface Ended {
  readonly code: number | null;
  readonly output: string;
}

export function sim(...args: readonly string[]): Promise<Ended> {
  const child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const from of [child.stdout, child.stderr])
    from.on('data', (data: Buffer) => {
      output += data.toString();
    });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', code => resolve({ code, output }));
  });
}
