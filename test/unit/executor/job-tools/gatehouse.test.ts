import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { installTools } from '../../../../src/executor/job-tools/install-tools.ts';
import { listenToSteps } from '../../../../src/executor/reported-steps.ts';
import { STEPS_PER_BUILD } from '../../../../src/executor/step-file.ts';
import { systemClock } from '../../../../src/lib/clock.ts';
import type { SpanId } from '../../../../src/lib/ids.ts';
import type { Step } from '../../../../src/model/step.ts';
import { keyedStepSpanId } from '../../../../src/tracing/span-ids.ts';

const folder = await mkdtemp(join(tmpdir(), 'gatehouse-tools-'));
installTools(folder);
afterAll(() => rm(folder, { recursive: true, force: true }));

const PLAYBOOK = '00f067aa0ba902b7' as SpanId;
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
let files = 0;

/** A job whose step file is `steps`; run by each shell that may be `/bin/sh`. */
function start(
  shell: string,
  script: string,
  steps: string,
  more: Record<string, string> = {},
): ChildProcess {
  return spawn(shell, ['-c', script], {
    env: {
      PATH: `${folder}:${process.env.PATH}`,
      // Or bash takes us for a remote login and reads its start-up files.
      SHLVL: '1',
      GATEHOUSE_STEPS: steps,
      GATEHOUSE_STEP: PLAYBOOK,
      TRACEPARENT: `00-${TRACE}-${PLAYBOOK}-01`,
      ...more,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

interface Ran {
  readonly code: number | null;
  readonly signal: string | null;
  readonly output: string;
  readonly steps: readonly Step[];
}

async function ended(job: ChildProcess, steps: string): Promise<Ran> {
  let output = '';
  job.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const [code, signal] = await once(job, 'close');
  return { code, signal, output, steps: stepsIn(steps) };
}

function stepsIn(path: string): readonly Step[] {
  const listener = listenToSteps(STEPS_PER_BUILD);
  if (existsSync(path)) for (const line of readFileSync(path, 'utf8').split('\n')) listener.line(line);
  return listener.end(systemClock().now()).steps;
}

function stepFile(): string {
  files += 1;
  return join(folder, `steps-${files}`);
}

function run(shell: string, script: string, more: Record<string, string> = {}): Promise<Ran> {
  const steps = stepFile();
  return ended(start(shell, script, steps, more), steps);
}

const SHELLS = ['/bin/dash', '/bin/bash'].filter(existsSync);

describe.each(SHELLS.length === 0 ? ['/bin/sh'] : SHELLS)('gatehouse step, from %s', shell => {
  test('runs its command with its input, and reports when it began and how it ended', async () => {
    const { code, output, steps } = await run(shell, "printf input | gatehouse step 'read it' -- cat");
    expect([code, output]).toEqual([0, 'input']);
    expect(steps).toMatchObject([
      { kind: 'ScriptStep', subject: 'read it', result: 'SUCCESS', facts: { exit_code: 0 } },
    ]);
  });

  test('keeps the exit status, and the arguments as they are', async () => {
    const { code, output, steps } = await run(
      shell,
      `gatehouse step 'it' -- sh -c 'printf "%s|" "$@"; exit 7' sh 'a b' '*' '$HOME' ''`,
    );
    expect([code, output]).toEqual([7, 'a b|*|$HOME||']);
    expect(steps).toMatchObject([{ result: 'FAILURE', facts: { exit_code: 7 } }]);
    expect((await run(shell, 'gatehouse step none -- /no/such/command 2>/dev/null')).code).toBe(127);
  });

  test('passes its span to its command, and steps within steps nest', async () => {
    const { output, steps } = await run(
      shell,
      `gatehouse step outer -- sh -c 'echo $TRACEPARENT; gatehouse step inner -- sh -c "echo \\$TRACEPARENT"; echo $TRACEPARENT'; echo $TRACEPARENT`,
    );
    const [outer] = steps;
    const [inner] = outer?.steps ?? [];
    expect([steps.length, outer?.subject, inner?.subject]).toEqual([1, 'outer', 'inner']);
    const outerSpan = keyedStepSpanId(PLAYBOOK, outer?.key ?? '');
    const innerSpan = keyedStepSpanId(outerSpan, inner?.key ?? '');
    const parents = [outerSpan, innerSpan, outerSpan, PLAYBOOK].map(span => `00-${TRACE}-${span}-01`);
    expect(output.trim().split('\n')).toEqual(parents);
  });

  test('leaves a job without a trace without one', async () => {
    const { output, steps } = await run(shell, 'gatehouse step it -- sh -c "echo .$TRACEPARENT."', {
      TRACEPARENT: '',
    });
    expect(output).toBe('..\n');
    expect(steps).toHaveLength(1);
  });

  test('passes a signal on to its command, and ends by it as the command did', async () => {
    const steps = stepFile();
    const job = start(shell, 'exec gatehouse step it -- sh -c "echo ready; exec sleep 60"', steps);
    const over = ended(job, steps);
    await once(job.stdout!, 'data');
    job.kill('SIGTERM');
    expect(await over).toMatchObject({ code: null, signal: 'SIGTERM', steps: [{ result: 'ABORTED' }] });
  });

  test('waits for a command that outlives a signal', async () => {
    const steps = stepFile();
    const job = start(
      shell,
      `exec gatehouse step it -- sh -c 'trap "echo caught; exit 5" TERM; echo ready; while :; do sleep 0.01; done'`,
      steps,
    );
    const over = ended(job, steps);
    await once(job.stdout!, 'data');
    job.kill('SIGTERM');
    expect(await over).toMatchObject({ code: 5, output: 'ready\ncaught\n', steps: [{ result: 'FAILURE' }] });
  });

  test('leaves interrupts to its command', async () => {
    const { code } = await run(shell, `gatehouse step it -- sh -c 'kill -INT $$; exit 9'`);
    expect(code).toBe(130);
  });

  test('reports a name of any form in one line', async () => {
    const { steps } = await run(
      shell,
      `gatehouse step "$(printf 'a\\tb\\nc')" -- true; gatehouse step "$(head -c 5000 /dev/zero | tr '\\0' x)" -- true`,
    );
    expect(steps.map(({ subject }) => subject)).toEqual(['a b c', 'x'.repeat(200)]);
  });

  test('only runs the command outside a job, and where it cannot report', async () => {
    const outside = await run(shell, 'gatehouse step it -- echo ran', {
      GATEHOUSE_STEPS: '',
      GATEHOUSE_STEP: '',
    });
    expect([outside.code, outside.output]).toEqual([0, 'ran\n']);
    const unreported = await run(shell, 'gatehouse step it -- echo ran', {
      GATEHOUSE_STEPS: '/no/such/folder/steps',
    });
    expect([unreported.code, unreported.output]).toEqual([0, 'ran\n']);
  });

  test('refuses anything else, with its usage', async () => {
    for (const bad of ['', 'step', 'step a', 'step a --', 'step a b', 'status', "step '' -- true"])
      expect((await run(shell, `gatehouse ${bad} 2>&1`)).output).toContain(
        'usage: gatehouse step NAME -- COMMAND',
      );
  });
});
