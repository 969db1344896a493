/** Builds that are cancelled clean up what they took. */
import { expect } from 'vitest';
import { layoutWith } from './layouts.ts';
import { story } from './story.ts';

const layout = layoutWith(
  `
- job:
    name: cloud
    post-run: [playbooks/logs.sh, {name: playbooks/release.sh, cleanup: true}]
- job: {name: unit, parent: cloud, run: playbooks/job.sh, cleanup-run: playbooks/tidy.sh}
- project:
    name: org/project
    check: {jobs: [unit]}
`,
  { notes: false, check: true, gate: false },
);
const script = (text: string) => `#!/bin/sh\n${text}\n`;

story(
  'a build that a new patchset cancels runs the playbooks that clean up, of its parents too, and no others',
  {
    layout,
    configFiles: {
      'playbooks/logs.sh': script('echo collected'),
      'playbooks/release.sh': script('echo "released, success $ZUUL_SUCCESS"'),
      'playbooks/tidy.sh': script('echo tidied; exit 1'),
    },
    expectedTrouble: [/cleanup-run of job unit is deprecated/],
  },
  async world => {
    await world.propose('A');
    await world.runs('unit: A');
    const [first] = world.stage.builds;
    await world.propose('A', { files: { 'more.txt': 'more' } });
    // It is of no item in a queue any more, and found once its item is in the history.
    const log = () => world.api.text(`/api/tenant/tenant-one/build/${first?.uuid}/log`).catch(() => '');
    const cancelled = await world.observer.until('the first build to end', async () => {
      const text = await log();
      return text.includes('RESULT: ') ? text : undefined;
    });
    expect(cancelled).toContain('RESULT: CANCELED');
    expect(cancelled).toContain('| tidied');
    expect(cancelled).toContain('| released, success false');
    expect(cancelled).not.toContain('collected');

    world.free();
    await world.leaves('A', 'SUCCESS', 'check');
    const spans = await world.observer.until('the spans of the second build', () => {
      const found = world.sink.spans.filter(
        ({ name, attributes }) => name.startsWith('Playbook ') && attributes['gatehouse.cleanup'] === true,
      );
      return found.length >= 2 ? found : undefined;
    });
    expect(spans.map(({ name }) => name)).toContain('Playbook playbooks/release.sh');
  },
);
