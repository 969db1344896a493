/** Nodes of jobs, after Zuul's test_nodeset_alternates and test_group_variables: what an executor does not offer is passed over. */
import { expect } from 'vitest';
import { layoutWith } from './layouts.ts';
import { story } from './story.ts';

const layout = layoutWith(
  `
- nodeset:
    name: fast
    nodes: [{name: builder, label: fast}]
- nodeset:
    name: slow
    nodes: [{name: builder, label: slow}, {name: [web1, web2], label: slow}]
    groups: [{name: web, nodes: [web1, web2]}]
- nodeset: {name: any, alternatives: [fast, slow]}
- job:
    name: build
    run: [playbooks/nodes.sh]
    nodeset: any
    vars: {level: job}
    group-vars: {web: {level: group}}
    host-vars: {web2: {level: host}}
    extra-vars: {colour: extra}
- project:
    name: org/project
    gate: {jobs: [build]}
`,
  { notes: false },
);
const configFiles = {
  'playbooks/nodes.sh': `#!/bin/sh
set -eu
exec node -e '
  const { vars, nodes } = JSON.parse(require("node:fs").readFileSync(process.env.GATEHOUSE_VARIABLES));
  console.log(JSON.stringify(vars));
  for (const [name, node] of Object.entries(nodes)) console.log(name, JSON.stringify(node));
'
`,
};

story(
  'a job runs with the first of its nodesets that an executor offers, and finds the variables of each node',
  { layout, configFiles, executor: ['labels = slow'] },
  async world => {
    await world.propose('A');
    await world.approve('A');
    await world.leaves('A', 'SUCCESS');
    expect(await world.landed()).toEqual(['A']);
    const [build] = await world.api.get<readonly { readonly uuid: string }[]>(
      '/api/tenant/tenant-one/builds',
    );
    const log = await world.api.text(`/api/tenant/tenant-one/build/${build?.uuid}/log`);
    expect(log).toContain(
      'nodes of nodeset slow: builder (slow), web1 (slow), web2 (slow); each is this executor',
    );
    expect(log).toContain('{"level":"job","colour":"extra"}');
    expect(log).toContain('builder {"label":"slow","groups":[],"vars":{"colour":"extra"}}');
    expect(log).toContain('web1 {"label":"slow","groups":["web"],"vars":{"level":"group","colour":"extra"}}');
    expect(log).toContain('web2 {"label":"slow","groups":["web"],"vars":{"level":"host","colour":"extra"}}');
  },
);
