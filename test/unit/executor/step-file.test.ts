import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { listenToSteps } from '../../../src/executor/reported-steps.ts';
import { STEP_FILE, STEPS_PER_BUILD, takeStepFile } from '../../../src/executor/step-file.ts';
import { parseNanoseconds } from '../../../src/lib/clock.ts';

const at = (second: number) => parseNanoseconds(`17953284${String(second).padStart(2, '0')}000000001`);
const END = at(50);

function reported(lines: readonly (readonly string[])[], budget = STEPS_PER_BUILD) {
  const listener = listenToSteps(budget);
  for (const fields of lines) listener.line(fields.join('\t'));
  return listener.end(END);
}

describe('what a playbook reports', () => {
  test('steps hang below the step around them, and keep the id they were given', () => {
    const { steps, dropped } = reported([
      ['begin', 'a1', '-', 'step', at(1), 'make test'],
      ['begin', 'b2', 'a1', 'step', at(2), 'compile'],
      ['end', 'b2', at(3), 'SUCCESS', 'exit_code=0'],
      ['end', 'a1', at(4), 'FAILURE', 'exit_code=2'],
    ]);
    expect(dropped).toBe(0);
    expect(steps).toEqual([
      {
        kind: 'ScriptStep',
        subject: 'make test',
        key: 'a1',
        startedAt: at(1),
        endedAt: at(4),
        result: 'FAILURE',
        facts: { exit_code: 2 },
        steps: [
          {
            kind: 'ScriptStep',
            subject: 'compile',
            key: 'b2',
            startedAt: at(2),
            endedAt: at(3),
            result: 'SUCCESS',
            facts: { exit_code: 0 },
          },
        ],
      },
    ]);
  });

  test('a step that never ended ends with its playbook, as aborted', () => {
    expect(reported([['begin', 'a1', '-', 'step', at(1), 'hangs']]).steps).toMatchObject([
      { subject: 'hangs', endedAt: END, result: 'ABORTED' },
    ]);
  });

  test('a task has no key, and the facts that are allowed', () => {
    const { steps } = reported([
      ['begin', 'p', '-', 'play', at(1), 'all hosts'],
      ['begin', 't', 'p', 'task', at(2), 'Copy', 'module=copy', 'host=localhost', 'args=secret'],
      ['end', 't', at(3), '-', 'changed=true', 'outcome=ignored', 'changed=maybe'],
      ['end', 'p', at(4), 'SUCCESS'],
    ]);
    const task = {
      kind: 'AnsibleTask',
      subject: 'Copy',
      startedAt: at(2),
      endedAt: at(3),
      facts: { module: 'copy', host: 'localhost', changed: true, outcome: 'ignored' },
    };
    expect(steps[0]?.steps).toEqual([task]);
  });

  test('the end of the file with results of tasks is reported once, and of no other file', () => {
    expect(reported([['lost', 'report.xml', 'gone']]).lost).toBeUndefined();
    const lines = [
      ['lost', 'job-output.json', 'No space left\u001b[31m'],
      ['lost', 'job-output.json', 'again'],
    ];
    expect(reported(lines).lost).toBe('No space left [31m');
  });

  test('a name loses what does not belong into one', () => {
    const name = `push to https://ci:hunter2@example.org \u001b[31mred ${'x'.repeat(300)}`;
    const subject = reported([['begin', 'a', '-', 'step', at(1), name]]).steps[0]?.subject ?? '';
    expect(subject).not.toContain('hunter2');
    expect(subject).not.toContain('\u001b');
    expect(subject).toHaveLength(200);
  });

  test.each([
    ['an unknown kind', ['begin', 'a', '-', 'Build', at(1), 'x']],
    ['an id of other characters', ['begin', 'a b', '-', 'step', at(1), 'x']],
    ['a time of another millennium', ['begin', 'a', '-', 'step', '7', 'x']],
    ['no time at all', ['begin', 'a', '-', 'step']],
    ['another word', ['start', 'a', '-', 'step', at(1), 'x']],
    ['an end of nothing', ['end', 'a', at(1), 'SUCCESS']],
  ])('%s is left out', (_what, line) => {
    expect(reported([line])).toMatchObject({ steps: [], dropped: 0, used: { steps: 0, bytes: 0 } });
  });

  test('a step below an unknown one is not drawn anywhere else', () => {
    expect(reported([['begin', 'a', 'who', 'step', at(1), 'x']])).toMatchObject({ steps: [], dropped: 1 });
  });

  test('an id counts once', () => {
    const begin = ['begin', 'a', '-', 'step', at(1), 'x'];
    const ends = [at(2), at(3)].map(time => ['end', 'a', time, 'SUCCESS']);
    expect(reported([begin, begin, ...ends]).steps).toMatchObject([{ endedAt: at(2) }]);
  });

  test('what is more than the budget is counted', () => {
    const lines = Array.from({ length: 5 }, (_, index) => ['begin', `s${index}`, '-', 'step', at(1), 'x']);
    expect(reported(lines, { steps: 3, bytes: 10_000 })).toMatchObject({ dropped: 2, used: { steps: 3 } });
    expect(reported(lines, { steps: 9, bytes: 450 })).toMatchObject({ dropped: 3, used: { steps: 2 } });
  });

  test('the budget in bytes bounds the record', () => {
    const lines = Array.from({ length: 2_000 }, (_, index) => [
      ...['begin', `${'0'.repeat(60)}${index}`, '-', 'step', at(1), '\u{1F600}"'.repeat(100)],
      `host=${'\\'.repeat(200)}`,
    ]);
    const { steps } = reported(lines);
    expect(Buffer.byteLength(JSON.stringify(steps))).toBeLessThan(STEPS_PER_BUILD.bytes);
  });

  test('anything a job writes gives bounded steps that can be drawn', () => {
    const word = fc.constantFrom(
      'begin',
      'end',
      'a',
      'b',
      '-',
      'step',
      'task',
      at(3),
      'FAILURE',
      'changed=true',
      '',
    );
    const line = fc.array(fc.oneof(word, fc.string({ unit: 'binary', maxLength: 300 })), { maxLength: 9 });
    const budget = { steps: 4, bytes: 2_000 };
    fc.assert(
      fc.property(fc.array(line, { maxLength: 30 }), lines => {
        const { steps, used } = reported(lines, budget);
        expect(used.steps).toBeLessThanOrEqual(budget.steps);
        expect(Buffer.byteLength(JSON.stringify(steps))).toBeLessThanOrEqual(budget.bytes);
        for (const step of steps) {
          expect(step.subject).not.toBe('');
          expect(BigInt(step.startedAt)).toBeGreaterThan(0n);
          expect(BigInt(step.endedAt)).toBeGreaterThan(0n);
        }
      }),
    );
  });

  test('steps within steps go sixteen deep', () => {
    const lines = Array.from({ length: 20 }, (_, index) => [
      ...['begin', `s${index}`, index === 0 ? '-' : `s${index - 1}`, 'step', at(1), 'x'],
    ]);
    const { steps, dropped } = reported(lines);
    expect(JSON.stringify(steps).split('"steps"')).toHaveLength(16);
    expect(dropped).toBe(4);
  });
});

describe('the file', () => {
  let work = '';
  const path = () => join(work, STEP_FILE);
  const take = () => takeStepFile(work, STEPS_PER_BUILD, END);
  beforeEach(async () => {
    work = await mkdtemp(join(tmpdir(), 'gatehouse-steps-'));
  });
  afterEach(() => rm(work, { recursive: true, force: true }));

  test('is read once and gone', async () => {
    await writeFile(path(), `begin\ta\t-\tstep\t${at(1)}\tgrüße\nend\ta\t${at(2)}\tSUCCESS\n`);
    expect((await take()).steps).toMatchObject([{ subject: 'grüße', result: 'SUCCESS' }]);
    expect(await readdir(work)).toEqual([]);
    expect((await take()).steps).toEqual([]);
  });

  test('a line cut short, a line too long and bytes that are no text are no obstacle', async () => {
    const good = `begin\ta\t-\tstep\t${at(1)}\tgood\n`;
    await writeFile(path(), Buffer.from([0xff, 0xfe, 0, 10]));
    await writeFile(path(), `${'x'.repeat(200_000)}\n${good}end\ta\t${at(2)}`, { flag: 'a' });
    expect((await take()).steps).toMatchObject([{ subject: 'good', result: 'ABORTED' }]);
  });

  test('a symbolic link is not followed, and goes', async () => {
    await writeFile(join(work, 'elsewhere'), `begin\ta\t-\tstep\t${at(1)}\tx\n`);
    await symlink(join(work, 'elsewhere'), path());
    expect((await take()).steps).toEqual([]);
    expect(await readdir(work)).toEqual(['elsewhere']);
  });

  test('a FIFO does not stop the executor, and goes', async () => {
    execFileSync('mkfifo', [path()]);
    expect((await take()).steps).toEqual([]);
    expect(await readdir(work)).toEqual([]);
  });

  test('a directory stays where it is', async () => {
    await mkdir(path());
    expect((await take()).steps).toEqual([]);
  });

  test('of a file without end a bounded part is read', async () => {
    const line = `begin\ts\t-\tstep\t${at(1)}\tx\n`;
    await writeFile(path(), line.repeat(Math.ceil(9_000_000 / line.length)));
    await writeFile(path(), line.replace('\ts\t', '\tlast\t'), { flag: 'a' });
    expect((await take()).used.steps).toBe(1);
  });
});
