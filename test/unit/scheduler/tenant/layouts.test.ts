import { describe, expect, test } from 'vitest';
import type { FreezeQuestion, LayoutTable } from '../../../../src/layout/layout-table.ts';
import type { Calls } from '../../../../src/lib/calls.ts';
import { CallLost } from '../../../../src/lib/worker-calls.ts';
import { createLayouts } from '../../../../src/scheduler/tenant/layouts.ts';
import { layoutsInProcess } from '../../../fake/layouts-in-process.ts';
import { APP, BASE, branchConfig, CONFIG, LANGUAGE, LIB, TENANT } from '../../layout/fixture.ts';

const CONFIGS = [
  branchConfig(CONFIG, `${BASE}- project: {name: acme/app, check: {jobs: [tests]}}\n`),
  branchConfig(APP, ''),
  branchConfig(LIB, ''),
];
const QUESTION: Omit<FreezeQuestion, 'tenant' | 'layout'> = {
  pipeline: 'check',
  changes: [{ name: '1', change: { project: APP, branch: 'master', files: ['a'] } }],
  proposed: [],
};

/** Loses the calls whose number is in `lost`, and with each all layouts, as a thread that ends does. */
function losing(because: CallLost['because'], lost: readonly number[]) {
  const drivers = new Map([['local', { config: LANGUAGE }]]);
  let inner = layoutsInProcess(drivers, () => 0);
  const made: string[] = [];
  const calls: Calls<LayoutTable> = {
    async call(name, argument) {
      made.push(name);
      if (!lost.includes(made.length)) return inner.call(name, argument);
      inner = layoutsInProcess(drivers, () => 0);
      throw new CallLost(because, 'a call took more than 10 s of processor time in its worker thread');
    },
    [Symbol.asyncDispose]: async () => {},
  };
  return { layouts: createLayouts(calls), made };
}

describe('layouts', () => {
  test('are built again in a new thread when one was lost, and the question is put again', async () => {
    const { layouts, made } = losing('time', [2]);
    const facts = await layouts.build(TENANT, CONFIGS);
    const { outcome } = await layouts.freeze(facts, QUESTION);
    expect(outcome.kind).toBe('frozen');
    expect(made).toEqual(['build', 'freeze', 'freeze', 'build', 'freeze']);
  });

  test.each([
    ['time', 'takes? more than 10 s|took more than 10 s of processor time'],
    ['memory', 'takes more memory than it may'],
  ] as const)(
    'that exceed their %s twice are a configuration error of the change that names the limit',
    async (because, text) => {
      const { layouts, made } = losing(because, [2, 3]);
      const facts = await layouts.build(TENANT, CONFIGS);
      const { outcome } = await layouts.freeze(facts, QUESTION);
      expect(outcome.kind === 'misconfigured' && outcome.errors[0]).toMatchObject({
        project: APP,
        branch: 'master',
        code: 'too-costly',
        text: expect.stringMatching(text),
      });
      expect(made).toHaveLength(3);
      expect((await layouts.freeze(facts, QUESTION)).outcome.kind).toBe('frozen');
    },
  );

  test('whose thread crashes for another reason are an error and no verdict', async () => {
    const { layouts } = losing('crash', [2]);
    const facts = await layouts.build(TENANT, CONFIGS);
    await expect(layouts.freeze(facts, QUESTION)).rejects.toThrow(CallLost);
  });

  test('of a tenant that exceed a limit name it', async () => {
    const { layouts } = losing('time', [1, 2]);
    await expect(layouts.build(TENANT, CONFIGS)).rejects.toThrow(
      'the configuration of tenant acme cannot be read: a call took more than 10 s of processor time',
    );
  });
});
