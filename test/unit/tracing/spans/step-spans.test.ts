import { describe, expect, it } from 'vitest';
import { spanIdOf } from '../../../../src/lib/ids.ts';
import type { SpanRecord } from '../../../../src/model/span.ts';
import type { Step } from '../../../../src/model/step.ts';
import { keyedStepSpanId, playbookSpanId, stepSpanId } from '../../../../src/tracing/span-ids.ts';
import { itemSpans } from '../../../../src/tracing/spans/item-spans.ts';
import { asArrived, checkTraces } from '../../../fake/check-traces.ts';
import { at, itemStory } from '../../../fake/queue-item.ts';

/** Spans of an item whose one build ran a playbook with these parts, from millisecond 20 to 90. */
function spansWith(steps: readonly Step[]) {
  const story = itemStory();
  story.merge().wait(10).merged().freeze(['a']).wait(1).start('a').wait(100).finish('a', 'SUCCESS');
  const build = story.item.buildset.builds[0]!;
  if (build.state.state !== 'completed' || build.state.execution === null) throw new Error('not completed');
  const playbook: Step = {
    kind: 'Playbook',
    subject: 'run/all.yaml',
    startedAt: at(20),
    endedAt: at(90),
    result: 'SUCCESS',
    steps,
  };
  const state = { ...build.state, execution: { ...build.state.execution, steps: [playbook] } };
  const item = { ...story.item, buildset: { ...story.item.buildset, builds: [{ ...build, state }] } };
  const spans = itemSpans(item);
  return { spans, top: playbookSpanId(spanIdOf(build.uuid), 'run/all.yaml', 0) };
}

const task = (subject: string, from: number, to: number, more: Partial<Step> = {}): Step => ({
  kind: 'AnsibleTask',
  subject,
  startedAt: at(from),
  endedAt: at(to),
  ...more,
});

const below = (spans: readonly SpanRecord[], parent: string) => spans.filter(span => span.parent === parent);

/** The item has not left, which is not the point here. */
const problemsOf = (spans: readonly SpanRecord[]) =>
  checkTraces(spans.map(asArrived)).filter(problem => /Ansible|Script|Playbook/.test(problem));

describe('parts of a step', () => {
  it('are spans below it, however deep, with ids of their own', () => {
    const play: Step = {
      ...task('all', 30, 80),
      kind: 'AnsiblePlay',
      steps: [
        task('copy', 30, 40, {
          result: 'SUCCESS',
          facts: { host: 'localhost', module: 'copy', changed: true },
        }),
        task('copy', 40, 50, { result: 'FAILURE', facts: { outcome: 'failed', args: 'secret' } }),
      ],
    };
    const { spans, top } = spansWith([play]);
    const id = stepSpanId(top, 'AnsiblePlay', 'all', 0);
    expect(below(spans, top).map(span => [span.name, span.spanId])).toEqual([['AnsiblePlay all', id]]);
    const [first, second] = below(spans, id);
    expect([first?.spanId, second?.spanId]).toEqual(
      [0, 1].map(ordinal => stepSpanId(id, 'AnsibleTask', 'copy', ordinal)),
    );
    expect(first?.attributes).toMatchObject({
      'gatehouse.ansible.host': 'localhost',
      'gatehouse.ansible.module': 'copy',
      'gatehouse.ansible.changed': true,
      'gatehouse.job': 'a',
    });
    expect(second?.status).toEqual({ code: 'error', message: 'FAILURE' });
    expect(second?.attributes).toMatchObject({
      'error.type': 'failure',
      'gatehouse.ansible.outcome': 'failed',
    });
    expect(JSON.stringify(spans)).not.toContain('secret');
    expect(problemsOf(spans)).toEqual([]);
  });

  it('with ids of their own keep these', () => {
    const inner: Step = { ...task('compile', 31, 35), kind: 'ScriptStep', key: '09d1ac7e55b0f2d8' };
    const outer: Step = {
      ...task('make', 30, 40),
      kind: 'ScriptStep',
      key: '4be20c9d1f00a7b3',
      steps: [inner],
    };
    const { spans, top } = spansWith([outer]);
    const id = keyedStepSpanId(top, '4be20c9d1f00a7b3');
    expect(below(spans, top).map(({ spanId }) => spanId)).toEqual([id]);
    expect(below(spans, id).map(({ spanId }) => spanId)).toEqual([keyedStepSpanId(id, '09d1ac7e55b0f2d8')]);
  });

  it('lie within it, for any times from the job', () => {
    const late = task('late', 85, 500, { steps: [task('later', 600, 700)] });
    const { spans, top } = spansWith([task('early', 1, 30), late, task('backwards', 60, 50)]);
    const [early, last, backwards] = below(spans, top);
    expect([early?.start, early?.end]).toEqual([at(20), at(30)]);
    expect([last?.start, last?.end]).toEqual([at(85), at(90)]);
    expect(backwards?.end).toBe(at(60));
    expect(below(spans, last?.spanId ?? '')).toMatchObject([
      { end: at(90), attributes: { 'gatehouse.clock_adjusted_ns': expect.any(Number) } },
    ]);
    expect(problemsOf(spans)).toEqual([]);
  });
});
