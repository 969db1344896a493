/**
 * A Java process that cannot outlive the process that started it.
 *
 * Between the two stands a shell that reads its standard input: nothing is ever written there, so the end of the input means
 * that the parent is gone, however it went (exit, kill -9, a crashed test worker), and the shell then kills Java and removes
 * the data. `kill` ends Java alone, as a crash would; the data stays for the next process.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

export interface JavaProcess {
  readonly pid: number;
  /** Resolves when Java is gone, for any reason. */
  readonly ended: Promise<void>;
  hasEnded(): boolean;
  /** The last of what it printed. */
  output(): string;
  /** kill -9, and waits until it is gone. Idempotent. */
  kill(): Promise<void>;
}

const WATCHDOG = `folder=$1; shift
"$@" </dev/null 2>&1 & pid=$!
echo "pid $pid"
exec >/dev/null 2>&1
read -r word
kill -9 "$pid"; wait "$pid"
[ "$word" = keep ] || rm -rf "$folder"`;

const KEPT_OUTPUT = 8_000;

/** @param folder removed when the parent vanishes. */
export async function startJava(java: string, args: readonly string[], folder: string): Promise<JavaProcess> {
  const child = spawn('sh', ['-c', WATCHDOG, 'sh', folder, java, ...args], {
    stdio: ['pipe', 'pipe', 'ignore'],
    // Away from the terminal's process group: Ctrl-C ends the parent, and with it this.
    detached: true,
  });
  const { stdin, stdout } = child;
  // The shell may be gone when `keep` is written.
  stdin.on('error', () => {});
  stdout.setEncoding('utf8');
  const first = Promise.withResolvers<number>();
  const ended = Promise.withResolvers<void>();
  let gone = false;
  let output = '';
  stdout.on('data', (text: string) => {
    output = (output + text).slice(-KEPT_OUTPUT);
    const pid = /^pid (\d+)\n/.exec(output)?.[1];
    if (pid !== undefined) first.resolve(Number(pid));
  });
  stdout.on('end', () => {
    gone = true;
    ended.resolve();
    first.reject(new Error(`no process was started: ${output}`));
  });
  child.on('error', error => first.reject(error));
  const pid = await first.promise;
  output = output.replace(/^pid \d+\n/, '');
  let killed: Promise<void> | undefined;
  return {
    pid,
    ended: ended.promise,
    hasEnded: () => gone,
    output: () => output,
    kill: () => (killed ??= end()),
  };

  async function end(): Promise<void> {
    if (!gone) process.kill(pid, 'SIGKILL');
    await ended.promise;
    const left = exited(child);
    stdin.end('keep\n');
    await left;
  }
}

async function exited(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}
