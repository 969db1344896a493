import { expect } from 'vitest';
import { POST_SPAN } from '../fake/post-span.ts';
import { layoutWith } from './layouts.ts';
import { story } from './story.ts';

const layout = layoutWith(`
- job: {name: traced, pre-run: playbooks/send.sh}
- project:
    name: org/project
    gate: {jobs: [traced]}
`);
const configFiles = {
  'playbooks/send.sh': `#!/bin/sh
"\${0%/*}/post-span.sh" sent
gatehouse step 'a step' -- "\${0%/*}/post-span.sh" 'sent in a step'
"\${0%/*}/post-span.sh" lost ',"startTimeUnixNano":"1700000000000000000"' "\${TRACEPARENT%-*-*}-00000000000000aa-01"
printf 'begin\\tb1\\tunknown\\tstep\\t%s\\tbelow no step\\n' "$(date +%s%N)" >>"$GATEHOUSE_STEPS"
`,
  'playbooks/post-span.sh': POST_SPAN,
};

story(
  'spans of jobs are below their builds, also when the item no longer waits for those',
  { layout, configFiles, executor: ['otlp_relay = true'] },
  async world => {
    await world.propose('A');
    await world.approve('A');
    await world.runs('traced: A');
    world.release(/traced/);
    const landed = await world.leaves('A', 'SUCCESS');
    await world.propose('B');
    await world.approve('B');
    await world.runs('traced: B');
    await world.abandon('B');
    const abandoned = await world.leaves('B', 'DEQUEUED');

    for (const { uuid } of [landed, abandoned]) {
      const sent = () =>
        world.sink.spans.filter(
          span => span.traceId === uuid && span.attributes['gatehouse.span.type'] === 'JobSpan',
        );
      await world.observer.until('the spans of the job', () => sent().length === 3);
      const parents = sent().map(span => {
        const parent = world.sink.spans.find(each => each.spanId === span.parentSpanId);
        return `${span.name}: ${parent?.attributes['gatehouse.span.type']}`;
      });
      expect(parents.toSorted()).toEqual(['lost: Playbook', 'sent in a step: ScriptStep', 'sent: Playbook']);
      const lost = sent().find(span => span.name === 'lost');
      expect(lost?.attributes).toMatchObject({ 'gatehouse.span.original_parent_id': '00000000000000aa' });
      expect(lost?.attributes).toHaveProperty(['gatehouse.clock_adjusted_ns']);
      const playbook = world.sink.spans.find(({ spanId }) => spanId === lost?.parentSpanId);
      expect(playbook?.attributes['gatehouse.dropped']).toBe(1);
      for (const span of sent()) expect(span.resource['service.name']).toBe('traced');
    }
  },
);
