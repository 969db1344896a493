/** Where a job finds its projects, and what ends it when two have one place. */
import { expect } from 'vitest';
import { layoutWith } from './layouts.ts';
import { story } from './story.ts';

const layout = layoutWith(
  `
- queue: {name: integrated}
- job:
    name: flat
    run: [playbooks/where.sh]
    workspace-scheme: flat
- job: {name: held}
- project: {name: org/app, queue: integrated, gate: {jobs: [flat, held]}}
- project: {name: other/app, queue: integrated, gate: {jobs: [flat]}}
`,
  { notes: false },
);
const configFiles = {
  'playbooks/where.sh': `#!/bin/sh
set -eu
ls "$ZUUL_SRC_DIR"
test "$(pwd)" = "$ZUUL_SRC_DIR/app"
grep -q '"src_dir": "src/app"' "$GATEHOUSE_VARIABLES"
echo stage=$(cat README.md)
`,
};
const projects = { 'org/app': { 'README.md': 'one\n' }, 'other/app': { 'README.md': 'two\n' } };

story(
  'a job with a flat workspace ends with ERROR, once, when a change ahead brings a project to the same place',
  { layout, configFiles, projects },
  async world => {
    await world.propose('A', { project: 'org/app' });
    await world.propose('B', { project: 'other/app' });
    await world.approve('A');
    await world.approve('B');
    await world.observer.until('B to fail behind A', () =>
      world.item('B')?.jobs.some(({ result }) => result === 'ERROR'),
    );
    await world.runs('held: A');
    world.release(/held: A/);
    await world.leaves('A', 'SUCCESS');
    const { uuid } = await world.leaves('B', 'FAILURE');
    const builds = await world.api.get<readonly { readonly result: string; readonly error_detail: string }[]>(
      '/api/tenant/tenant-one/builds?project=other/app',
    );
    expect(builds, uuid).toMatchObject([{ result: 'ERROR' }]);
    expect(JSON.stringify(builds)).toContain(
      'are both checked out at src/app; choose workspace-scheme golang or unique',
    );
  },
);
