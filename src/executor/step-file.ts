/**
 * The step file: how programs inside a playbook report their own parts. `$GATEHOUSE_STEPS` names it; a program appends lines,
 * each by one write, and the executor reads it when the playbook has ended. UTF-8, fields separated by tabs:
 *
 *     begin <id> <parent> <kind> <time> <name> [<fact>=<value>]...
 *     end   <id> <time> <result> [<fact>=<value>]...
 *     lost  job-output.json <reason>
 *
 *     begin 4be20c9d1f00a7b3  -                 step  1795328400123456789  make test
 *     begin 09d1ac7e55b0f2d8  4be20c9d1f00a7b3  step  1795328401000000000  compile
 *     end   09d1ac7e55b0f2d8  1795328409500000000  SUCCESS  exit_code=0
 *     end   4be20c9d1f00a7b3  1795328412000000000  FAILURE  exit_code=2
 *
 *   id      1 to 64 letters, digits, `_` and `-`; of a script's step 16 random hexadecimal digits
 *   parent  id of the enclosing step, which began before; `-`: directly below the playbook
 *   kind    `step` (of a script), `play`, `task` (of Ansible)
 *   time    nanoseconds since 1970, 19 digits (`date +%s%N`)
 *   name    without tab and newline; cut at 200 characters
 *   result  SUCCESS, FAILURE, TIMED_OUT, ABORTED; `-`: it had none
 *   fact    exit_code=0..999, host=…, module=…, changed=true|false, outcome=…; others are left out
 *
 * `lost` says that what comes after is not in the file with the results of tasks; only the first counts.
 *
 * A step without an `end` line (it was killed) ends with the playbook, as ABORTED. Steps beyond {@link STEPS_PER_BUILD}, and steps
 * below them, are counted and left out.
 *
 * A program that passes its own span on must know its id beforehand: the span of a `step` is `keyedStepSpanId(<parent's span>, <id>)`, the
 * first 16 hexadecimal digits of SHA-256 of `<parent's span>/step <id>/0`. `$GATEHOUSE_STEP` says where a process is: `<span>` of the
 * playbook, or within a step `<span>/<id>` of that step. So a step of the script, its id made up, does this around its command:
 *
 *     GATEHOUSE_STEP=<own span>/<own id>   TRACEPARENT=00-<trace of TRACEPARENT>-<own span>-<its flags>
 *
 * While tracing is off there are no spans: it is empty, or `/<id>` within a step, and an existing TRACEPARENT is left unchanged.
 */
import { type FileHandle, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Nanoseconds } from '../lib/clock.ts';
import { openPlainFile } from './open-plain-file.ts';
import { listenToSteps, type ReportedSteps, type StepBudget } from './reported-steps.ts';

/** Below the build's work directory, where the job may write. */
export const STEP_FILE = '.gatehouse-steps';

/** Of all playbooks of a build together. */
export const STEPS_PER_BUILD: StepBudget = { steps: 1_000, bytes: 256_000 };

/** Bytes of the file that are read. */
const MOST_READ = 8_388_608;
const LONGEST_LINE = 4_096;

/**
 * The steps a playbook reported, after it has ended; the file is gone afterwards. Never fails because of what the job wrote.
 *
 * @param work the build's work directory.
 */
export async function takeStepFile(
  work: string,
  budget: StepBudget,
  at: Nanoseconds,
): Promise<ReportedSteps> {
  const path = join(work, STEP_FILE);
  const reported = listenToSteps(budget);
  const file = await openPlainFile(path);
  if (file !== undefined) {
    try {
      for await (const line of linesOf(file)) reported.line(line);
    } finally {
      await file.close();
    }
  }
  await removeFile(path);
  return reported.end(at);
}

/** The next playbook begins without one: nor with a FIFO, on which its writers would block. */
async function removeFile(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    // None was written; or it is a directory of the job's, in which no steps can be written.
    if (!(error instanceof Error && 'code' in error && NOT_REMOVED.has(String(error.code)))) throw error;
  }
}

const NOT_REMOVED: ReadonlySet<string> = new Set(['ENOENT', 'EISDIR', 'EPERM', 'EACCES']);

/** Whole lines only: the last one may have been cut by the end of its writer. */
async function* linesOf(file: FileHandle): AsyncGenerator<string> {
  let rest = Buffer.alloc(0);
  let read = 0;
  while (read < MOST_READ) {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(65_536), 0, 65_536);
    if (bytesRead === 0) return;
    read += bytesRead;
    rest = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
    let from = 0;
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10, from)) {
      if (end - from <= LONGEST_LINE) yield rest.toString('utf8', from, end);
      from = end + 1;
    }
    // A line that is too long is dropped: the last byte kept stands for its remainder, which is dropped too.
    rest = rest.length - from > LONGEST_LINE ? rest.subarray(rest.length - 1) : rest.subarray(from);
  }
}
