/** The demo's service: a process of its own, started as an operator would start it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ownModule } from '../../lib/own-file.ts';

/** A running `gatehouse start`. */
export interface ServiceProcess {
  readonly pid: number;
  /** Exit status or signal, once it has ended. */
  readonly exited: Promise<string>;
  /** Sends SIGTERM and waits for the process to end. */
  stop(): Promise<void>;
}

/** @param logFile receives its output. @param program path of its main module; default: that of this program. */
export async function startServiceProcess(
  config: string,
  logFile: string,
  environment: NodeJS.ProcessEnv,
  program: string = fileURLToPath(ownModule('src/cmd/main')),
): Promise<ServiceProcess> {
  await mkdir(path.dirname(logFile), { recursive: true });
  const log = createWriteStream(logFile, { flags: 'a' });
  const child: ChildProcess = spawn(process.execPath, [program, 'start', '--config', config], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: environment,
  });
  child.stdout?.pipe(log, { end: false });
  child.stderr?.pipe(log, { end: false });
  const exited = new Promise<string>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(signal ?? String(code)));
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`the service did not start: ${await exited}`);
  return {
    pid,
    exited,
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

/**
 * Resolves when all components are ready.
 *
 * @throws Error when the service ends, or is not ready within `limit` milliseconds.
 */
export async function waitUntilReady(url: string, service: ServiceProcess, limit: number): Promise<void> {
  const deadline = performance.now() + limit;
  let ended: string | undefined;
  void service.exited.then(status => {
    ended = status;
  });
  let reason = 'it is not listening yet';
  while (performance.now() < deadline) {
    if (ended !== undefined) throw new Error(`the service ended (${ended}) before it was ready`);
    try {
      const response = await fetch(`${url}/health/ready`);
      if (response.ok) return;
      reason = await response.text();
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // not listening yet
    }
    await new Promise(resolve => setTimeout(resolve, 25));
  }
  throw new Error(`the service was not ready within ${Math.round(limit / 1000)} s: ${reason}`);
}

/** `wanted` if it is free, else any free port. */
export async function freePort(wanted: number): Promise<number> {
  return (await portIfFree(wanted)) ?? (await portIfFree(0)) ?? wanted;
}

function portIfFree(port: number): Promise<number | undefined> {
  return new Promise(resolve => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : undefined));
    });
  });
}
