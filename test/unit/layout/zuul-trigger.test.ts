/** Pipelines that start because of what Gatehouse did: the connection `zuul` needs no section, and is a trigger only. */
import { expect, test } from 'vitest';
import { takesInternal } from '../../../src/layout/build/zuul-trigger.ts';
import { errorsOf, layoutOf } from './fixture.ts';

const pipeline = (rest: string) => `
- pipeline:
    name: follow
    manager: independent
    ${rest}
`;

function taken(trigger: string) {
  const layout = layoutOf({ config: pipeline(`trigger: {zuul: ${trigger}}`) });
  expect(layout.errors.filter(({ severity }) => severity === 'error')).toEqual([]);
  const follow = layout.pipelines.get('follow');
  return (type: Parameters<typeof takesInternal>[1]['type'], where: string) =>
    follow === undefined ? 'no pipeline' : takesInternal(follow, { type, pipeline: where });
}

test('an event is taken by its type and, of a change that was enqueued, by the pipeline', () => {
  const any = taken('[{event: project-change-merged}, {event: parent-change-enqueued}]');
  expect(any('project-change-merged', 'gate')).toBe('event project-change-merged');
  expect(any('parent-change-enqueued', 'check')).toBe('event parent-change-enqueued');
  const some = taken('{event: parent-change-enqueued, pipeline: [gate, ^exp]}');
  expect(some('project-change-merged', 'gate')).toBeUndefined();
  expect(some('parent-change-enqueued', 'check')).toBeUndefined();
  expect(some('parent-change-enqueued', 'gate')).toBe(
    'event parent-change-enqueued, pipeline gate matches gate',
  );
  expect(some('parent-change-enqueued', 'experimental')).toContain('matches ^exp');
  const other = taken('{event: parent-change-enqueued, pipeline: {regex: gate, negate: true}}');
  expect([other('parent-change-enqueued', 'gate'), other('parent-change-enqueued', 'check')]).toEqual([
    undefined,
    'event parent-change-enqueued, pipeline check matches not gate',
  ]);
});

test('events of the image launcher are taken with a warning, because they never come', () => {
  const layout = layoutOf({ config: pipeline('trigger: {zuul: [{event: [image-build, image-validate]}]}') });
  expect(layout.errors.map(({ severity, text }) => `${severity}: ${text}`)).toEqual([
    'warning: image-build: no images are built here, so this event never comes',
    'warning: image-validate: no images are built here, so this event never comes',
  ]);
});

test.each([
  [
    'trigger: {zuul: [{}]}',
    'a zuul trigger needs "event": one of project-change-merged, parent-change-enqueued',
  ],
  ['trigger: {zuul: [{event: []}]}', 'a zuul trigger needs "event"'],
  ['trigger: {zuul: [{event: change-merged}]}', '"change-merged" is not one of project-change-merged'],
  [
    'trigger: {zuul: [{event: project-change-merged, pipeline: gate}]}',
    '"pipeline" goes with the event parent-change-enqueued',
  ],
  [
    'trigger: {zuul: [{event: parent-change-enqueued, pipline: gate}]}',
    'unknown key "pipline" in a zuul trigger',
  ],
  ['require: {zuul: {}}', 'connection "zuul" cannot be a requirement'],
])('%s is a mistake', (rest, text) => {
  expect(errorsOf(layoutOf({ config: pipeline(rest) })).join('\n')).toContain(text);
});

test('a reporter for images is taken, reports nothing, and a warning says so', () => {
  const layout = layoutOf({ config: pipeline('success: {zuul: {image-built: true}, local: {}}') });
  expect(errorsOf(layout).join('\n')).toContain('reporter "zuul" has no effect');
  expect(layout.errors.map(({ severity }) => severity)).toEqual(['warning']);
  const reporters = [...layout.pipelines.values()].flatMap(({ reporters: { success } }) => success);
  expect(reporters.map(({ connection }) => connection)).not.toContain('zuul');
});
