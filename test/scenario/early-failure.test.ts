/** A job says early that it is going to fail: what is behind it in the gate goes on without it, while the job still runs. */
import { expect } from 'vitest';
import { layoutWith } from './layouts.ts';
import { story } from './story.ts';

const layout = layoutWith(`
- job:
    name: unit
    run: [playbooks/say.sh, playbooks/job.sh]
    failure-output: '.*FAILED\\b'
- project:
    name: org/project
    gate: {jobs: [unit]}
`);

story(
  'a line of the output fails a change before its job has ended, and the change behind is tested without it',
  {
    layout,
    configFiles: {
      'playbooks/say.sh': '#!/bin/sh\nif [ -e bad.txt ]; then echo "test 7 FAILED"; fi\n',
    },
  },
  async world => {
    await world.propose('A', { files: { 'bad.txt': 'bad' } });
    await world.propose('B');
    await world.approve('A');
    await world.approve('B');
    await world.runs('unit: A', 'unit: B');
    const early = 'a line of its output matches failure-output ".*FAILED\\b"';
    expect(await world.decided('A', 'early-failure')).toMatchObject({
      text: expect.stringContaining(`unit has failed while it still runs: ${early}`),
    });
    expect(world.item('A')?.jobs[0]).toMatchObject({ result: 'FAILING', detail: early });
    expect(world.item('B')?.resets.map(({ code }) => code)).toEqual(['item-ahead-failed']);

    // Both playbooks of the job pass, and it has failed all the same.
    world.free();
    await world.leaves('A', 'FAILURE');
    await world.leaves('B', 'SUCCESS');
    expect(await world.landed()).toEqual(['B']);
    expect((await world.notes('A')).at(-1)).toContain('FAILURE');
    const playbook = await world.observer.until('the span of the playbook', () =>
      world.sink.spans.find(({ attributes }) => attributes['gatehouse.early_failure'] === true),
    );
    expect(playbook.name).toBe('Playbook playbooks/say.sh');
  },
);
