import { expect, test } from 'vitest';
import { hostSteps, hostStepsOfError } from '../../../src/driver/host-steps.ts';
import { parseNanoseconds } from '../../../src/lib/clock.ts';
import type { Step, StepKind } from '../../../src/model/step.ts';

const at = parseNanoseconds('1795000000000000000');
const step = (subject: string, kind: StepKind = 'HostQuery'): Step => ({
  ...{ kind, subject, startedAt: at, endedAt: at },
});
const many = Array.from({ length: 120 }, (_, index) => step(String(index)));

test('requests and waits are kept, other steps are not', () => {
  const wait = step('limited', 'HostWait');
  expect(hostSteps([step('a'), step('b', 'Playbook'), wait])).toEqual([step('a'), wait]);
  expect(hostSteps(undefined)).toEqual([]);
});

test('of many the first and the last are kept', () => {
  expect(hostSteps(many).map(({ subject }) => Number(subject))).toEqual([
    ...Array(25).keys(),
    ...Array.from({ length: 25 }, (_, index) => 95 + index),
  ]);
});

test('an error may carry steps, and nothing else as steps', () => {
  const carrying = (steps: unknown) => hostStepsOfError(Object.assign(new Error('away'), { steps }));
  expect(carrying([step('a'), null, 7, { kind: 'HostQuery' }])).toEqual([step('a')]);
  expect(carrying(many)).toHaveLength(50);
  for (const none of ['x', undefined, { length: 3 }]) expect(carrying(none)).toEqual([]);
  expect(hostStepsOfError('away')).toEqual([]);
});
