import { expect, test } from 'vitest';
import { KEEP_MS, MOST_WAITING_ANSWERS, sharedAnswers } from '../../../src/web/shared-answers.ts';

function desk() {
  let now = 0;
  const made: string[] = [];
  const shared = sharedAnswers<string>({ monotonic: () => now });
  return {
    made,
    pass: (ms: number) => {
      now += ms;
    },
    ask: (key: string, work: Promise<unknown> = Promise.resolve()) =>
      shared(key, async () => {
        made.push(key);
        await work;
        return `${key} ${made.length}`;
      }),
  };
}

test('who asks the same shares an answer, until it is old', async () => {
  const { ask, pass } = desk();
  expect(await Promise.all([ask('a'), ask('a'), ask('b')])).toEqual(['a 1', 'a 1', 'b 2']);
  pass(KEEP_MS - 1);
  expect(await ask('a')).toBe('a 1');
  pass(1);
  expect(await ask('a')).toBe('a 3');
});

test('one answer is made at a time, and only so many wait', async () => {
  const { ask, made } = desk();
  const gate = Promise.withResolvers<void>();
  const answers = Array.from({ length: MOST_WAITING_ANSWERS }, (_, n) => ask(`${n}`, gate.promise));
  expect(ask('one more')).toBeUndefined();
  expect(ask('0')).toBe(answers[0]);
  await Promise.resolve();
  expect(made).toEqual(['0']);
  gate.resolve();
  await Promise.all(answers);
  expect(made).toHaveLength(MOST_WAITING_ANSWERS);
  expect(await ask('one more')).toBe(`one more ${MOST_WAITING_ANSWERS + 1}`);
});

test('after a failure the next one tries again, and takes nothing from who has tried already', async () => {
  const { ask, made, pass } = desk();
  const fault = Promise.withResolvers<void>();
  const failed = ask('a', fault.promise);
  pass(KEEP_MS);
  const again = ask('a');
  fault.reject(new Error('the database is away'));
  await expect(failed).rejects.toThrow('the database is away');
  expect(await again).toBe('a 2');
  expect(await ask('a')).toBe('a 2');
  expect(made).toEqual(['a', 'a']);

  await expect(ask('b', Promise.reject(new Error('again')))).rejects.toThrow('again');
  expect(await ask('b')).toBe('b 4');
});
