/** Timers in pipelines: the connection `timer` needs no section, and is a trigger only. */
import { expect, test } from 'vitest';
import { timesOf } from '../../../src/layout/build/timer-trigger.ts';
import { errorsOf, layoutOf } from './fixture.ts';

const pipeline = (rest: string) => `
- pipeline:
    name: nightly
    manager: independent
    ${rest}
`;

test('a pipeline starts at the times of its timers, each once', () => {
  const layout = layoutOf({
    config: pipeline(
      "trigger: {timer: [{time: '0 3 * * *'}, {time: '0 4 * * *', dereference: true}, {time: '0 3 * * *'}]}",
    ),
  });
  expect(errorsOf(layout)).toEqual([]);
  const nightly = layout.pipelines.get('nightly');
  expect(nightly === undefined ? undefined : timesOf(nightly)).toEqual(['0 3 * * *', '0 4 * * *']);
});

test.each([
  [
    "trigger: {timer: [{time: '0 3 * * 7'}]}",
    '"0 3 * * 7" is no time of a timer: "7" is no day of week: numbers are 0 to 6',
  ],
  ['trigger: {timer: [{time: 5}]}', '"time" in a timer trigger must be a string, e.g. "0 3 * * *"'],
  ['trigger: {timer: [{}]}', 'a timer trigger needs "time", e.g. "0 3 * * *"'],
  ["trigger: {timer: [{tiem: '0 3 * * *'}]}", 'unknown key "tiem" in a timer trigger'],
  ['success: {timer: {}}', 'connection "timer" cannot be a reporter'],
  ['require: {timer: {}}', 'connection "timer" cannot be a requirement'],
])('%s is a mistake', (rest, text) => {
  expect(errorsOf(layoutOf({ config: pipeline(rest) })).join('\n')).toContain(text);
});
