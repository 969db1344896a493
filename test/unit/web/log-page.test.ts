/** A log in the page, without a browser. Loaded apart: the browser's types are not ours. */
import { expect, test } from 'vitest';

const load = (name: string) => import(new URL(`../../../src/web/page/${name}`, import.meta.url).href);
const { LogBuffer } = await load('log-buffer.ts');
const { LogRows } = await load('log-rows.ts');
const { findLines, firstError } = await load('log-search.ts');

const STAMP = '2026-11-20 17:53:01.123456';
const bytesOf = (text: string) => new TextEncoder().encode(text);

function logOf(text: string, complete = true) {
  const log = new LogBuffer();
  log.add(bytesOf(text), complete);
  return log;
}

const textsOf = (log: { lines: number; line(number: number): { text: string } }) =>
  Array.from({ length: log.lines }, (_, line) => log.line(line).text);

test('a log is the same however it is cut into pieces, within a character too', () => {
  const text = `${STAMP} | a\x1b[1;31mgrößer\n${STAMP} # RUN START: x\n${STAMP} | b\nc`;
  const whole = bytesOf(text);
  const expected = logOf(text);
  for (let cut = 0; cut <= whole.length; cut++) {
    const log = new LogBuffer();
    log.add(whole.subarray(0, cut), false);
    log.add(whole.subarray(cut), true);
    expect(textsOf(log), `cut at ${cut}`).toEqual(['a\x1b[1;31mgrößer', 'RUN START: x', 'b', 'c']);
    expect([0, 1, 2, 3].map(line => log.classesAt(line))).toEqual(['', 'bold c1', 'bold c1', 'bold c1']);
    expect(log.sections.all()).toEqual(expected.sections.all());
    expect(log.bytes).toBe(whole.length);
  }
});

test('a line without a newline waits for the rest of it, but not without end', () => {
  const log = logOf('a\nb', false);
  expect(log.lines).toBe(1);
  log.add(bytesOf('x'.repeat(70_000)), false);
  expect(textsOf(log)).toEqual(['a', `b${'x'.repeat(70_000)}`]);
});

test('colours go on over many lines and many pieces', () => {
  const log = new LogBuffer();
  for (let piece = 0; piece < 10; piece++) log.add(bytesOf('plain\n'.repeat(100)), false);
  log.add(bytesOf('\x1b[32mgreen\n'), false);
  for (let piece = 0; piece < 10; piece++) log.add(bytesOf('on\n'.repeat(100)), true);
  expect([1000, 1001, 1500, 2000].map(line => log.classesAt(line))).toEqual(['', 'c2', 'c2', 'c2']);
});

test('phases reach to before their end, and steps of Ansible to the next one', () => {
  const job = (text: string) => `${STAMP} | ${text}\n`;
  const executor = (text: string) => `${STAMP} # ${text}\n`;
  const log = logOf(
    [
      executor('PRE-RUN START: [a]'),
      job('PLAY [all] ***'),
      job('TASK [one] ***'),
      job('ok'),
      job('TASK [two] ***'),
      job('ok'),
      executor('PRE-RUN END: [a]: passed'),
      executor('RUN START: [b]'),
      job('x'),
    ].join(''),
  );
  expect(log.sections.all()).toEqual([
    { from: 2, to: 3 },
    { from: 4, to: 5 },
    { from: 0, to: 5 },
    { from: 7, to: 8 },
  ]);
  expect(log.sections.beginningAt(4)).toEqual({ from: 4, to: 5 });
  expect(log.sections.beginningAt(1)).toBeUndefined();
});

test('a folded section is one row', () => {
  const rows = new LogRows(10, [
    { from: 5, to: 6 },
    { from: 1, to: 3 },
    { from: 0, to: 3 },
  ]);
  expect(rows.count).toBe(6);
  expect([0, 1, 2, 3, 4, 5].map(row => rows.lineOf(row))).toEqual([0, 4, 5, 7, 8, 9]);
  expect([0, 2, 3, 4, 5, 6, 9].map(line => rows.rowOf(line))).toEqual([0, 0, 0, 1, 2, 2, 5]);
});

test('lines are found as they are read, and the first error is one of the job', async () => {
  const log = logOf(
    `${STAMP} # RUN END: failed\n${STAMP} | 0 failed, no errors\n${STAMP} | FA\x1b[31mILED\x1b[0m: x\n${STAMP} | failed again\n`,
  );
  const never = new AbortController().signal;
  expect(await findLines(log, 'failed', never)).toEqual([0, 1, 2, 3]);
  expect(await firstError(log, never)).toBe(2);
  expect(await findLines(log, 'failed', AbortSignal.abort())).toBeUndefined();
});
