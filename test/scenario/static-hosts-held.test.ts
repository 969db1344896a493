/** Hosts of a job that failed are held as they are for the person who asked, a real sshd, and serve again when that person is done. */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import type { HoldDocument } from '../../src/api/holds.ts';
import { sshdHosts } from '../fake/nodes-folder.ts';
import { processesWith } from '../fake/processes-with.ts';
import { ON_BUBBLEWRAP, ON_SSHD } from '../setup/provided.ts';
import { layoutWith } from './layouts.ts';
import { DEADLINE } from './observer.ts';
import { openWorld } from './open-world.ts';

const sshd = inject('sshd');
/** Without one the user of a job has no name, which ssh wants. */
const bubblewrap = inject('bubblewrap');
const TENANT = '/api/tenant/tenant-one';

const layout = layoutWith(
  `
- job:
    name: unit
    run: [playbooks/unit.sh]
    nodeset: {nodes: [{name: builder, label: debian}]}
- job:
    name: lint
    run: [playbooks/lint.sh]
- project:
    name: org/project
    gate: {jobs: [unit, lint]}
`,
  { notes: false },
);
const configFiles = {
  'playbooks/unit.sh': `#!/bin/sh
ssh -F "$GATEHOUSE_SSH_CONFIG" builder 'touch .gatehouse/$LC_GATEHOUSE_BUILD/evidence; nohup sleep 1000 >/dev/null 2>&1 & exit 3'
`,
  'playbooks/lint.sh': '#!/bin/sh\nexit 1\n',
};

interface ShownBuild {
  readonly uuid: string;
  readonly job_name: string;
  readonly result: string;
  readonly error_detail: string;
}

describe.skipIf(sshd.kind !== 'found' || bubblewrap.kind !== 'found')(
  `a hold of hosts ${ON_SSHD} ${ON_BUBBLEWRAP}`,
  () => {
    test('keeps what a failed build left until it is deleted, and says so where the build is', {
      timeout: 3 * DEADLINE,
    }, async () => {
      await using host = await sshdHosts(sshd, ['one']);
      const setup = { executor: ['sandbox = bubblewrap'], sections: [host.section] };
      const world = await openWorld({ layout, configFiles, ...setup }, { kind: 'embedded' });
      try {
        world.free();
        const ask = (job: string, more: object) =>
          world.operator.post(`${TENANT}/project/org/project/autohold`, {
            ...{ job, reason: 'why does it fail?', count: 1, node_hold_expiration: 3600 },
            ...more,
          });
        await ask('unit', { change: 'master/A' });
        await ask('unit', { ref: 'refs/heads/nothing' });
        await ask('lint', {});
        await world.propose('A');
        await world.approve('A');
        await world.leaves('A', 'FAILURE');
        const builds = await world.api.get<readonly ShownBuild[]>(`${TENANT}/builds`);
        const build = (job: string) => builds.find(each => each.job_name === job);
        const unit = build('unit');
        if (unit === undefined) throw new Error('no build');
        const evidence = path.join(homedir(), '.gatehouse', unit.uuid, 'evidence');
        const left = () =>
          existsSync(evidence) || processesWith(`LC_GATEHOUSE_BUILD=${unit.uuid}`).length > 0;
        expect(existsSync(evidence)).toBe(true);
        const [hold, other, ofLint] = await world.api.get<readonly HoldDocument[]>(`${TENANT}/autohold`);
        expect(hold).toMatchObject({
          ...{ job: 'unit', ref_filter: 'change master/A', current_count: 1, max_count: 1 },
          nodes: [{ build: unit.uuid, nodes: ['one'] }],
          gatehouse: { by: 'command line' },
        });
        expect([other?.current_count, ofLint?.current_count]).toEqual([0, 1]);
        expect(unit.error_detail).toMatch(
          /held for hold request \d+ of command line \(why does it fail\?\): host one/,
        );
        expect(await world.api.get(`${TENANT}/nodes`)).toMatchObject([
          { id: 'one', state: 'hold', comment: 'why does it fail?' },
        ]);
        // It ran on the executor.
        expect(await world.api.text(`${TENANT}/build/${build('lint')?.uuid}/log`)).toContain(
          `held for hold request ${ofLint?.id} of command line (why does it fail?): workspace /`,
        );
        expect(await world.api.get(`${TENANT}/autohold/${hold?.id}`)).toEqual(hold);

        await world.operator.remove(`${TENANT}/autohold/${hold?.id}`);
        await world.observer.until('the host to be clean and in service', async () => {
          const [node] = await world.api.get<readonly { readonly state: string }[]>(`${TENANT}/nodes`);
          return node?.state === 'ready' && !left();
        });
        await expect(world.operator.remove(`${TENANT}/autohold/${hold?.id}`)).rejects.toThrow(
          `Hold request ${hold?.id} not found`,
        );
        await world.end();
        const acts = world.sink.spans.filter(({ name }) => /^ManagementEvent autohold/.test(name));
        expect(
          acts.map(({ name, attributes }) => `${name}: ${attributes['gatehouse.by']}`).toSorted(),
        ).toEqual([
          'ManagementEvent autohold-delete: command line',
          'ManagementEvent autohold: command line',
          'ManagementEvent autohold: command line',
          'ManagementEvent autohold: command line',
        ]);
      } finally {
        await world[Symbol.asyncDispose]();
      }
    });
  },
);
