/** A server of a test's own: started, ended, started again, with what it said last for a test that fails. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';

export interface ServerProcess extends AsyncDisposable {
  /** Resolves when it is ready. @throws Error with what it said, when it ends or is not ready in time. */
  start(): Promise<void>;
  /** SIGKILL. */
  kill(): Promise<void>;
}

/** Milliseconds it may take on a machine that is busy. */
const PATIENCE = 120_000;
const LOOK_AGAIN = 100;
const SHOWN = 30;

/** @param isReady may throw while it is not. */
export function serverProcess(
  program: string,
  options: readonly string[],
  isReady: () => Promise<boolean>,
): ServerProcess {
  const name = path.basename(program);
  let running: { readonly kill: () => void; readonly ended: Promise<unknown> } | undefined;

  async function kill(): Promise<void> {
    running?.kill();
    await running?.ended;
    running = undefined;
  }

  return {
    async start() {
      const child = spawn(program, options, { stdio: ['ignore', 'pipe', 'pipe'] });
      const said: string[] = [];
      for (const input of [child.stdout, child.stderr])
        createInterface({ input }).on('line', line => said.push(line) > SHOWN && said.shift());
      const ended = once(child, 'close');
      running = { kill: () => child.kill('SIGKILL'), ended };
      const over = ended.then(([status]) => {
        throw new Error(`${name} ended with status ${status}:\n${said.join('\n')}`);
      });
      const late = Date.now() + PATIENCE;
      const ready = (async () => {
        while (!(await isReady().catch(() => false))) {
          if (Date.now() > late) throw new Error(`${name} is not ready:\n${said.join('\n')}`);
          await setTimeout(LOOK_AGAIN);
        }
      })();
      over.catch(() => undefined);
      await Promise.race([ready, over]);
    },
    kill,
    [Symbol.asyncDispose]: kill,
  };
}
