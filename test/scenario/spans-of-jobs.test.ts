import { expect } from 'vitest';
import { POST_SPAN } from '../fake/post-span.ts';
import { layoutWith } from './layouts.ts';
import { story } from './story.ts';

const layout = layoutWith(`
- job: {name: telling, pre-run: playbooks/tell.sh}
- project:
    name: org/project
    gate: {jobs: [telling]}
`);
const configFiles = {
  'playbooks/tell.sh': `#!/bin/sh
"\${0%/*}/post-span.sh" told
gatehouse step 'a step' -- "\${0%/*}/post-span.sh" 'told in a step'
`,
  'playbooks/post-span.sh': POST_SPAN,
};

story(
  'what jobs tell hangs below their builds, also when nobody waits for those any more',
  { layout, configFiles, executor: ['otlp_relay = true'] },
  async world => {
    await world.propose('A');
    await world.approve('A');
    await world.runs('telling: A');
    world.release(/telling/);
    const landed = await world.leaves('A', 'SUCCESS');
    await world.propose('B');
    await world.approve('B');
    await world.runs('telling: B');
    await world.abandon('B');
    const abandoned = await world.leaves('B', 'DEQUEUED');

    for (const { uuid } of [landed, abandoned]) {
      const told = () =>
        world.sink.spans.filter(
          span => span.traceId === uuid && span.attributes['gatehouse.span.type'] === 'JobSpan',
        );
      await world.observer.until('the spans of the job', () => told().length === 2);
      const parents = told().map(span => {
        const parent = world.sink.spans.find(each => each.spanId === span.parentSpanId);
        return `${span.name}: ${parent?.attributes['gatehouse.span.type']}`;
      });
      expect(parents.toSorted()).toEqual(['told in a step: ScriptStep', 'told: Playbook']);
      for (const span of told()) expect(span.resource['service.name']).toBe('telling');
    }
  },
);
