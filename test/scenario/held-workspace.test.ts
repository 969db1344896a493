/** The workspace of a job that failed on its executor is kept for the person who asked, and goes when that person is done or the hold expires. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { HoldDocument } from '../../src/api/holds.ts';
import { describeOnBubblewrap } from '../setup/bubblewrap.ts';
import { layoutWith } from './layouts.ts';
import { DEADLINE } from './observer.ts';
import { openWorld } from './open-world.ts';

const TENANT = '/api/tenant/tenant-one';
const layout = layoutWith(
  `
- job:
    name: unit
    run: [playbooks/unit.sh]
- project:
    name: org/project
    gate: {jobs: [unit]}
`,
  { notes: false },
);
const configFiles = {
  'playbooks/unit.sh': `#!/bin/sh
cd "$ZUUL_SRC_DIR"/*/org/project || exit 9
echo "what the log does not say" >evidence
echo changed >README.md
exit 1
`,
};

describeOnBubblewrap('a hold of a workspace', () => {
  test('a person reads what a failed job left, until it is deleted or expires', {
    timeout: 3 * DEADLINE,
  }, async () => {
    const setup = { executor: ['sandbox = bubblewrap'] };
    await using world = await openWorld({ layout, configFiles, ...setup }, { kind: 'embedded' });
    world.free();
    const ask = (change: string, expiration: number) =>
      world.operator.post(`${TENANT}/project/org/project/autohold`, {
        ...{ job: 'unit', change: `master/${change}`, reason: 'look', count: 1 },
        node_hold_expiration: expiration,
      });
    const holds = () => world.api.get<readonly HoldDocument[]>(`${TENANT}/autohold`);
    const fail = async (change: string) => {
      await world.propose(change);
      await world.approve(change);
      await world.leaves(change, 'FAILURE');
      const [hold] = await holds();
      const workspace = hold?.gatehouse.held[0]?.workspace;
      if (hold === undefined || workspace == null) throw new Error(`nothing is held for ${change}`);
      return { hold, workspace };
    };
    const gone = (place: string) =>
      world.observer.until(`${place} to go`, async () => !existsSync(place) && (await holds()).length === 0);

    await ask('A', 3600);
    const { hold, workspace } = await fail('A');
    const [build] = await world.api.get<readonly { readonly uuid: string; readonly error_detail: string }[]>(
      `${TENANT}/builds?held=true`,
    );
    expect(hold).toMatchObject({ current_count: 1, nodes: [{ build: build?.uuid, nodes: [] }] });
    expect(build?.error_detail).toContain(
      `held for hold request ${hold.id} of command line (look): workspace ${workspace.path} of ${workspace.executor}`,
    );
    expect(await world.api.text(`${TENANT}/build/${build?.uuid}/log`)).toContain(workspace.path);
    const src = path.join(workspace.path, 'work/src');
    const [tree = ''] = execFileSync('find', [src, '-name', 'evidence'])
      .toString()
      .trim()
      .split('\n')
      .map(path.dirname);
    expect(readFileSync(path.join(tree, 'evidence'), 'utf8')).toBe('what the log does not say\n');
    const status = execFileSync('git', ['-C', tree, 'status', '--porcelain']).toString();
    expect(status).toBe(' M README.md\n?? evidence\n');
    expect(execFileSync('git', ['-C', tree, 'log', '--format=%s', '-1']).toString()).toContain('A');
    await world.operator.remove(`${TENANT}/autohold/${hold.id}`);
    await gone(workspace.path);

    await ask('B', 1);
    const second = await fail('B');
    expect(second.workspace.path).not.toBe(workspace.path);
    await gone(second.workspace.path);
  });
});
