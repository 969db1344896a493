/** Playbooks of config-projects run as they have landed: what is proposed reads no secret before it is reviewed. */
import { expect } from 'vitest';
import { encryptOaep } from '../../src/lib/pkcs1-oaep.ts';
import { BASE_JOB } from '../fake/layout-text.ts';
import { KEYSTORE_PASSWORD, PUBLIC_KEY, ZUUL_KEYS } from '../fake/project-keys.ts';
import { layoutWith } from './layouts.ts';
import { story } from './story.ts';
import type { World } from './world.ts';

const [chunk = ''] = encryptOaep('kanarienvogel-4712', PUBLIC_KEY);
const layout = `${layoutWith('', { notes: false, check: true }).replace(BASE_JOB, '')}
- secret:
    name: upload
    data:
      token: !encrypted/pkcs1-oaep
        - ${chunk}
- job:
    name: base
    parent: null
    pre-run: playbooks/base.sh
    run: playbooks/job.sh
    secrets: [upload]
- job: {name: test}
- project:
    name: org/config
    check: {jobs: [test]}
    gate: {jobs: [test]}
- project:
    name: org/project
    check: {jobs: [test]}
    gate: {jobs: [test]}
`;
const base = (text: string) => `#!/bin/sh
set -eu
echo "base playbook: ${text}"
test -n "$ZUUL_SECRETS_FILE"
own=$ZUUL_SRC_DIR/local/org/config/playbooks/base.sh
test ! -e "$own" || grep '^echo "base' "$own" | sed 's/^/in the workspace: /'
`;
const setup = {
  layout,
  configFiles: { 'playbooks/base.sh': base('landed') },
  sections: ['[keystore]', `password = ${KEYSTORE_PASSWORD.reveal()}`],
  keys: ZUUL_KEYS.replaceAll('org%2Fproject', 'org%2Fconfig'),
};

story(
  'a proposed playbook of a config project is in the workspace, and runs only once it has landed',
  setup,
  async world => {
    await world.propose('A', { project: 'org/config', files: { 'playbooks/base.sh': base('proposed') } });
    await world.runs('test: A');
    const checked = await logOf(world, 'A');
    expect(checked).toContain('base playbook: landed');
    expect(checked).toContain('in the workspace: echo "base playbook: proposed"');
    expect(checked).not.toMatch(PROPOSED);
    world.release(/./);
    await world.leaves('A', 'SUCCESS', 'check');

    // In the gate it is approved, and has still not landed: not for itself, and not for what is behind it.
    await world.propose('B');
    await world.runs('test: B');
    world.release(/./);
    await world.leaves('B', 'SUCCESS', 'check');
    await world.approve('A');
    await world.runs('test: A');
    await world.approve('B');
    await world.runs('test: A', 'test: B');
    for (const topic of ['A', 'B']) expect(await logOf(world, topic)).not.toMatch(PROPOSED);
    world.free();
    await world.leaves('A', 'SUCCESS');
    await world.leaves('B', 'SUCCESS');
    expect(await world.landed('org/config')).toEqual(['A']);

    await world.propose('C');
    await world.leaves('C', 'SUCCESS', 'check');
    expect(await logOf(world, 'C')).toMatch(PROPOSED);
  },
);

/** As the playbook prints it when it runs. */
const PROPOSED = /\| base playbook: proposed/;

/** Log of the newest build with the change. */
async function logOf(world: World, topic: string): Promise<string> {
  const build = world.stage.builds.findLast(({ changes }) => changes.split(' ').at(-1) === topic);
  return world.api.text(`/api/tenant/tenant-one/build/${build?.uuid}/log`);
}
