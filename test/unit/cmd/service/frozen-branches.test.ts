import { expect, test } from 'vitest';
import { frozenBranches } from '../../../../src/cmd/service/frozen-branches.ts';
import { layoutSummaryCodec } from '../../../../src/model/codec/records.ts';
import { projectKey } from '../../../../src/model/project.ts';
import { storePaths } from '../../../../src/store/paths.ts';
import type { StoredNode } from '../../../../src/store/port.ts';
import { layoutsInProcess } from '../../../fake/layouts-in-process.ts';
import { emptyLayout } from '../../../fake/records.ts';

const QUESTION = {
  tenant: 'acme',
  pipeline: 'gate',
  project: projectKey({ connection: 'local', name: 'app' }),
  branch: 'master',
} as const;
const BUILT_FROM = { tenant: { name: 'acme', projects: [], maxJobTimeout: 60 }, projects: [] };

/** All of the same version, as a node that was removed and made again. */
function record(transaction: bigint, parts: Parameters<typeof emptyLayout>[0]): StoredNode {
  const stat = { version: 0, createdTransaction: transaction, modifiedTransaction: transaction };
  return {
    data: layoutSummaryCodec.encode(emptyLayout(parts)),
    stat: { ...stat, ephemeralOwner: undefined, childCount: 0 },
  };
}

test('the layout of a tenant that went and came back is not the one it had', async () => {
  let stored = record(1n, { builtFrom: BUILT_FROM });
  await using web = frozenBranches({
    store: { get: async () => stored, getMany: async () => [] },
    paths: storePaths('/gatehouse'),
    drivers: new Map(),
    openLayouts: drivers => layoutsInProcess(drivers, () => performance.now()),
  });
  expect(await web.freeze(QUESTION)).toMatchObject({ kind: 'absent', place: 'path: pipeline' });

  stored = record(2n, { builtFrom: null });

  expect(await web.freeze(QUESTION)).toEqual({
    kind: 'costly',
    text: 'tenant acme is being configured; try again later',
  });
});
