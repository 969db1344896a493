/** A job chooses by `zuul.child_jobs` which of those that depend on it run, and by `zuul.retry` whether its pre-run is tried again. */
import { expect } from 'vitest';
import { layoutWith } from './layouts.ts';
import { TENANT } from './site.ts';
import { story } from './story.ts';

const layout = layoutWith(`
- job: {name: build, pre-run: playbooks/prepare.sh, run: playbooks/build.sh}
- job: {name: unit}
- job: {name: docs}
- job: {name: publish}
- job: {name: notify}
- project:
    name: org/project
    gate:
      jobs:
        - build
        - unit: {dependencies: [build]}
        - docs: {dependencies: [build]}
        - publish: {dependencies: [docs]}
        - notify: {dependencies: [{name: docs, soft: true}]}
`);
const configFiles = {
  'playbooks/prepare.sh': `#!/bin/sh
if [ -e broken.txt ]; then
  gatehouse return '{"zuul": {"retry": false}}'
  exit 1
fi
`,
  'playbooks/build.sh': `#!/bin/sh
node -p '"children " + JSON.parse(require("fs").readFileSync(process.env.GATEHOUSE_VARIABLES)).zuul.child_jobs'
gatehouse return "{\\"zuul\\": {\\"child_jobs\\": $(cat children.json)}}"
`,
};

interface Build {
  readonly uuid: string;
  readonly job_name: string;
  readonly result: string;
  readonly error_detail: string | null;
}

story(
  'jobs that child_jobs leaves out are skipped with those that need them, and the change lands',
  { layout, configFiles },
  async world => {
    const left = 'left out by zuul.child_jobs of build';
    world.free();
    await world.propose('A', { files: { 'children.json': '["unit", "other"]' } });
    await world.approve('A');
    await world.leaves('A', 'SUCCESS');
    expect(await world.history()).toEqual(['notify: A SUCCESS', 'unit: A SUCCESS']);
    const said = (await world.notes('A')).at(-1);
    expect(said).toMatch(new RegExp(`- docs .* : SKIPPED ${left}`));
    expect(said).toMatch(/- publish .* : SKIPPED because of docs/);
    const warning = 'zuul.child_jobs has a name of no job that depends directly on this one; ignored';
    expect(said).toContain(`Warning:\n  build: ${warning}`);
    const builds = await world.api.get<readonly Build[]>(`/api/tenant/${TENANT}/builds`);
    const named = (job: string) => builds.find(({ job_name }) => job_name === job);
    expect(named('docs')).toMatchObject({ result: 'SKIPPED', error_detail: left });
    const log = await world.api.text(`/api/tenant/${TENANT}/build/${named('build')?.uuid}/log`);
    expect(log).toContain('children unit,docs');
    expect(log).toContain(`WARNING: ${warning}`);
    expect(named('build')).toMatchObject({ gatehouse: { warnings: [warning] } });
    const span = await world.observer.until('the span of the skipped build', () =>
      world.sink.spans.find(({ attributes }) => attributes['gatehouse.skipped_because'] === 'build'),
    );
    expect(span.attributes['gatehouse.detail']).toBe(left);

    // An empty list leaves out all, but for those that can do without.
    await world.propose('B', { files: { 'children.json': '[]' } });
    await world.approve('B');
    await world.leaves('B', 'SUCCESS');
    expect((await world.history()).filter(line => line.includes(' B '))).toEqual(['notify: B SUCCESS']);
    expect(await world.landed()).toEqual(['A', 'B']);

    // What prepares the build is tried again, unless it says that this is of no use.
    await world.propose('C', { files: { 'broken.txt': '', 'children.json': '[]' } });
    await world.approve('C');
    await world.leaves('C', 'FAILURE');
    const tried = await world.api.get<readonly Build[]>(`/api/tenant/${TENANT}/builds?job_name=build`);
    expect(tried.map(({ result }) => result).toSorted()).toEqual(['FAILURE', 'SUCCESS', 'SUCCESS']);
  },
);
