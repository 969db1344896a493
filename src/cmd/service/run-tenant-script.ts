/** `[scheduler] tenant_config_script`: a program that prints the tenant file. */
import { spawn } from 'node:child_process';
import { groupKiller } from '../../git/process/git-process.ts';

/** `reason` completes "<script> <reason>". */
export type ScriptOutput =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'failed'; readonly reason: string };

/** Milliseconds. */
const TIME_LIMIT = 60_000;
const MOST_BYTES = 16 * 1024 * 1024;
/** Characters of what it wrote to its standard error. */
const MOST_SHOWN = 300;

/**
 * Runs it without arguments, in the environment of this process. What it starts ends with it when it is stopped; what has left its
 * process group is no longer read.
 *
 * @param script an absolute path.
 */
export function runTenantScript(script: string): Promise<ScriptOutput> {
  // A process group of its own: programs that it starts would hold its output open.
  const child = spawn(script, [], { detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const printed: Buffer[] = [];
  let bytes = 0;
  let complaint = '';
  let stopped: string | undefined;
  const stop = (reason: string) => {
    if (stopped !== undefined) return;
    stopped = reason;
    killGroup('SIGKILL');
    child.stdout.destroy();
    child.stderr.destroy();
  };
  const limit = setTimeout(() => stop(`took more than ${TIME_LIMIT / 1000} s`), TIME_LIMIT);
  child.stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) stop(`printed more than ${MOST_BYTES} bytes`);
    else printed.push(chunk);
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(-MOST_SHOWN);
  });
  const ended = new Promise<ScriptOutput>(resolve => {
    const fail = (reason: string) => resolve({ kind: 'failed', reason });
    child.on('error', error => fail(`cannot be run (${error.message}); it must be executable`));
    child.on('close', (status, signal) => {
      const said = complaint.trim() === '' ? '' : `: ${complaint.trim()}`;
      if (stopped !== undefined) fail(stopped);
      else if (signal !== null) fail(`was ended by ${signal}${said}`);
      else if (status !== 0) fail(`ended with status ${status}${said}`);
      else resolve({ kind: 'text', text: Buffer.concat(printed).toString('utf8') });
    });
  });
  const killGroup = groupKiller(child, ended);
  return ended.finally(() => clearTimeout(limit));
}
