/**
 * Check 09: a job that fails as infrastructure twice and then succeeds is three builds, numbered, the first two in error; one that
 * never gets through ends its item, and the last result is named. Beside it one job is skipped and one takes too long: what check 21
 * demands of spans holds for every way to end.
 */
import { expect } from 'vitest';
import { NOTED } from '../fake/layout-text.ts';
import type { SinkSpan } from '../fake/otlp-sink.ts';
import { layoutWith } from '../scenario/layouts.ts';
import { story } from '../scenario/story.ts';
import type { World } from '../scenario/world.ts';
import { semanticProblems } from './span-semantics.ts';
import { kindOf, linked } from './spans-by.ts';

const layout = layoutWith(
  `
- job: {name: recovers, pre-run: playbooks/flaky.sh, attempts: 3}
- job: {name: hopeless, pre-run: playbooks/broken.sh, attempts: 2}
- job: {name: never-begun}
- job: {name: endless, run: playbooks/endless.sh, timeout: 1}
- project:
    name: org/project
    gate: {jobs: [recovers]}
- project:
    name: org/other
    gate:
      jobs:
        - hopeless
        - never-begun: {dependencies: [hopeless]}
        - endless
`,
  { gate: { notes: NOTED } },
);
const projects = { 'org/project': { 'README.md': '1\n' }, 'org/other': { 'README.md': '2\n' } };
const configFiles = {
  'playbooks/flaky.sh': '#!/bin/sh\n[ "$ZUUL_ATTEMPT" -ge 3 ]\n',
  'playbooks/broken.sh': '#!/bin/sh\nexit 1\n',
  'playbooks/endless.sh': '#!/bin/sh\nexec tail -f /dev/null\n',
};

function buildsOf({ sink }: World, item: string, job: string): readonly SinkSpan[] {
  return sink.spans
    .filter(
      span => kindOf(span) === 'Build' && span.traceId === item && span.attributes['gatehouse.job'] === job,
    )
    .toSorted(
      (a, b) => Number(a.attributes['gatehouse.attempt']) - Number(b.attributes['gatehouse.attempt']),
    );
}

/** Attempt, result, result by convention, error type, status. */
function facts({ attributes, status }: SinkSpan): readonly unknown[] {
  return [
    attributes['gatehouse.attempt'],
    attributes['gatehouse.result'],
    attributes['cicd.pipeline.task.run.result'],
    attributes['error.type'],
    status.code,
  ];
}

const ERROR = 2;
const UNSET = 0;

story(
  'check 09: retries are numbered and end as what they were; at their limit the last result is named',
  { layout, projects, configFiles },
  async world => {
    world.free();
    await world.propose('A');
    await world.propose('B', { project: 'org/other' });
    await world.approve('A');
    await world.approve('B');
    const recovered = await world.leaves('A', 'SUCCESS');
    const lost = await world.leaves('B', 'FAILURE');
    await world.observer.until('both traces to arrive', () =>
      [recovered, lost].every(({ uuid }) =>
        world.sink.spans.some(span => span.traceId === uuid && span.parentSpanId === null),
      ),
    );

    const tries = buildsOf(world, recovered.uuid, 'recovers');
    expect(tries.map(facts)).toEqual([
      [1, 'RETRY', 'error', 'retry', ERROR],
      [2, 'RETRY', 'error', 'retry', ERROR],
      [3, 'SUCCESS', 'success', undefined, UNSET],
    ]);
    expect(new Set(tries.map(({ spanId }) => spanId)).size).toBe(3);
    expect(tries.map(span => linked(span, 'retry_of', world.sink.spans)?.spanId)).toEqual([
      undefined,
      tries[0]?.spanId,
      tries[1]?.spanId,
    ]);
    // One after the other: an attempt begins when the previous one has ended.
    for (const [index, span] of tries.entries())
      if (index > 0) expect(span.start >= (tries[index - 1]?.end ?? 0n)).toBe(true);
    // Why, in one line, on the span and in its status.
    for (const span of tries.slice(0, 2)) {
      const detail = String(span.attributes['gatehouse.detail']);
      expect(detail).toMatch(/^pre-run playbook \S+ ended with status \d+$/);
      expect(span.status.message).toBe(`RETRY: ${detail}`);
    }
    // The jobs that were frozen, each with its time.
    const trace = world.sink.spans.filter(span => span.traceId === recovered.uuid);
    const graph = trace.find(span => span.attributes['gatehouse.span.type'] === 'JobGraph');
    const frozen = trace.filter(span => span.attributes['gatehouse.span.type'] === 'FreezeJob');
    expect(frozen.length).toBeGreaterThan(0);
    expect(frozen.map(span => span.attributes['gatehouse.job'])).toEqual(graph?.attributes['gatehouse.jobs']);
    expect(frozen.every(span => span.parentSpanId === graph?.spanId)).toBe(true);
    const root = world.sink.spans.find(span => span.traceId === recovered.uuid && span.parentSpanId === null);
    expect(root?.attributes['gatehouse.result']).toBe('SUCCESS');

    expect(buildsOf(world, lost.uuid, 'hopeless').map(facts)).toEqual([
      [1, 'RETRY', 'error', 'retry', ERROR],
      [2, 'RETRY_LIMIT', 'error', 'retry_limit', ERROR],
    ]);
    expect(buildsOf(world, lost.uuid, 'never-begun').map(facts)).toEqual([
      [1, 'SKIPPED', 'skip', undefined, UNSET],
    ]);
    expect(buildsOf(world, lost.uuid, 'endless').map(facts)).toEqual([
      [1, 'TIMED_OUT', 'timeout', 'timed_out', ERROR],
    ]);
    expect(semanticProblems(world.sink.spans)).toEqual([]);

    const [note] = (await world.notes('B', 2)).slice(-1);
    expect(note).toContain('RETRY_LIMIT');
    const decisions = await world.decisions('B');
    expect(decisions.map(({ text }) => text).join('\n')).toContain(
      'hopeless is tried again after attempt 1 of 2',
    );
  },
);
