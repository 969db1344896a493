import { expect } from 'vitest';
import { layoutWith } from './layouts.ts';
import { TENANT } from './site.ts';
import { story } from './story.ts';

const layout = layoutWith(
  `
- job:
    name: unit
    run: [playbooks/show.sh, playbooks/job.sh]
    vars: {own: job}
    include-vars:
      - vars/site.yaml
      - {name: vars/lib.yaml, project: org/project1}
      - {name: vars/ci.yaml, zuul-project: true, required: false}
- project:
    name: org/project
    gate: {jobs: [unit]}
`,
  { notes: false },
);

story(
  'variables come from files of the config-project as landed, of another project, and of the change as proposed',
  {
    layout,
    configFiles: {
      'vars/site.yaml': 'own: site\nsite: 1\nboth: site\n',
      'playbooks/show.sh': `#!/bin/sh
node -e 'console.log("vars", JSON.stringify(JSON.parse(require("fs").readFileSync(process.env.GATEHOUSE_VARIABLES)).vars))'
`,
    },
    projects: {
      'org/project': { 'README.md': 'A project.\n' },
      'org/project1': { 'vars/lib.yaml': 'lib: 2\nboth: lib\n' },
    },
  },
  async world => {
    const varsOf = async () => {
      const builds = await world.api.get<readonly { readonly uuid: string }[]>(
        `/api/tenant/${TENANT}/builds?limit=1`,
      );
      const log = await world.api.text(`/api/tenant/${TENANT}/build/${builds[0]?.uuid}/log`);
      return JSON.parse(/vars (.*)/.exec(log)?.[1] ?? 'null');
    };
    await world.propose('A');
    await world.approve('A');
    await world.runs('unit: A');
    world.release(/./);
    await world.leaves('A', 'SUCCESS');
    expect(await varsOf()).toEqual({ own: 'job', site: 1, lib: 2, both: 'lib' });

    await world.propose('B', { files: { 'vars/ci.yaml': 'both: change\n' } });
    await world.approve('B');
    await world.runs('unit: B');
    world.release(/./);
    await world.leaves('B', 'SUCCESS');
    expect(await varsOf()).toEqual({ own: 'job', site: 1, lib: 2, both: 'change' });
  },
);
