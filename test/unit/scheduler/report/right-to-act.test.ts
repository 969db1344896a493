import { expect, test } from 'vitest';
import { type ProjectStanding, proveRight } from '../../../../src/scheduler/report/right-to-act.ts';
import { ensureNode } from '../../../../src/store/ensure-node.ts';
import { Fenced } from '../../../../src/store/fence.ts';
import { check, set } from '../../../../src/store/port.ts';
import { proposedChange } from '../../../fake/queue-item.ts';
import { openStand } from '../stand.ts';

const LAYOUT = '/layout';
const change = proposedChange('master/login');

/** A layout that is renewed in the instant after it is first read. */
async function renewedWhileLookedAt() {
  const stand = openStand();
  await ensureNode(stand.store, LAYOUT);
  let version = 0;
  let reads = 0;
  const layout = {
    async standingOf() {
      const standing: ProjectStanding = version === 0 ? 'held' : 'removed';
      const seen = check(LAYOUT, version);
      reads += 1;
      if (reads === 1) await stand.store.multi([set(LAYOUT, new Uint8Array())]);
      return { standing, check: seen };
    },
    async refresh() {
      version += 1;
    },
  };
  return { stand, layout, reads: () => reads };
}

test('the right to act is proved under the layout that is in force at that instant', async () => {
  const { stand, layout, reads } = await renewedWhileLookedAt();
  await using _ = stand;
  const fence = await stand.fence('gate');
  const standing = await proveRight([change], { ...stand, layout }, fence, AbortSignal.timeout(5000));
  expect(standing).toBe('removed');
  expect(reads()).toBe(2);
});

test('a holder that lost the fence has no right to act under any layout', async () => {
  const { stand, layout } = await renewedWhileLookedAt();
  await using _ = stand;
  const fence = await stand.fence('gate');
  await fence.release();
  await expect(proveRight([change], { ...stand, layout }, fence, AbortSignal.timeout(5000))).rejects.toThrow(
    Fenced,
  );
});
