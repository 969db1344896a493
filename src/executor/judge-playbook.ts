/** The result of a playbook, from how its process ended: pure. `outcome.ts` derives the build's result. */
import { assertNever } from '../lib/assert-never.ts';
import { isAnsiblePlaybook } from '../model/ansible-playbook.ts';
import { UNREACHABLE_STATUS } from './ansible/ansible-run.ts';
import type { ExecutorOptions } from './deps.ts';
import type { Halt } from './halt.ts';
import type { PlaybookFacts } from './job-environment.ts';
import type { PlaybookEnd } from './outcome.ts';
import type { PlannedPlaybook } from './plan-playbooks.ts';
import type { Runner } from './runner.ts';
import type { ProcessEnd } from './spawner/protocol.ts';

type Played = Pick<PlaybookFacts, 'phase'> & Pick<PlannedPlaybook, 'playbook'>;

interface JudgeContext {
  readonly runner: Pick<Runner, 'isolated'>;
  readonly options: Pick<ExecutorOptions, 'outputMaxBytes'>;
}

/** Judges the process alone: `run-playbook.ts` checks first for a halt and a full disk, and then for unreachable hosts. */
export function judge(context: JudgeContext, run: Played, ended: ProcessEnd): PlaybookEnd {
  const name = `${run.phase} playbook ${run.playbook.path}`;
  switch (ended.kind) {
    case 'lost':
      return { kind: 'broken', detail: `${name} was lost: ${ended.reason}` };
    case 'not-started':
      return notStarted(context, name, ended.reason);
    case 'ended':
      break;
    default:
      return assertNever(ended, 'end of a process');
  }
  const exitCode = ended.code;
  switch (ended.because) {
    case 'timeout':
      return timedOut(run);
    case 'output-limit':
      return {
        kind: 'failed',
        detail: `${name} wrote more than the ${context.options.outputMaxBytes} bytes of output a build may write`,
        exitCode,
      };
    case 'memory-limit':
      return {
        kind: 'failed',
        detail: `${name} held more memory than a build may have as soon as it began`,
        exitCode,
      };
    case 'stopped':
      return { kind: 'broken', detail: `${name} was stopped` };
    case 'itself':
      if (exitCode === 0) return { kind: 'passed' };
      return {
        kind: 'failed',
        detail: `${name} ended with ${ended.signal ?? `status ${exitCode}`}`,
        exitCode,
      };
    default:
      return assertNever(ended.because, 'end of a process');
  }
}

/** Adds the reason to the failure of a script whose processes were killed; a script that passed anyway has passed. */
export function withLimit(end: PlaybookEnd, limited: string | undefined): PlaybookEnd {
  if (limited === undefined || (end.kind !== 'failed' && end.kind !== 'broken')) return end;
  const exitCode = end.kind === 'failed' ? end.exitCode : null;
  return { kind: 'failed', detail: `${end.detail}: ${limited}`, exitCode };
}

/** Without a sandbox a missing interpreter only shows when the program is started: that is the playbook's fault. */
function notStarted({ runner }: JudgeContext, name: string, reason: string): PlaybookEnd {
  if (!runner.isolated && /ENOENT|EACCES|ENOEXEC/.test(reason)) {
    return {
      kind: 'failed',
      detail: `${name} could not be started (${reason}); does the interpreter of its first line exist?`,
      exitCode: null,
    };
  }
  return { kind: 'broken', detail: `${name} could not be started: ${reason}` };
}

/** Also the end of a playbook that is not started because its phase has no time left. */
export function timedOut(run: Played): PlaybookEnd {
  return {
    kind: 'timed-out',
    detail: `${run.phase} playbook ${run.playbook.path} ran into the timeout of the job`,
    exitCode: null,
  };
}

/** The status alone is not enough: Ansible also uses it when it cannot read the playbook. */
export function unreachable(run: Played, end: PlaybookEnd): PlaybookEnd {
  if (end.kind !== 'failed' || end.exitCode !== UNREACHABLE_STATUS || !isAnsiblePlaybook(run.playbook.path))
    return end;
  return {
    kind: 'unreachable',
    detail: `${run.phase} playbook ${run.playbook.path} could not reach a host`,
    exitCode: end.exitCode,
  };
}

/** The end of a playbook of a halted build. A lost claim gives `cancelled`, which is never reported. */
export function halted(halt: Halt): PlaybookEnd {
  const stopped = halt.reason() === 'executor-stopped';
  return stopped
    ? { kind: 'broken', detail: 'the executor was stopped' }
    : { kind: 'cancelled', detail: 'cancelled' };
}
