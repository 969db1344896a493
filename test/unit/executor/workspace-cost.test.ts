/** What a workspace costs besides git: each awaited file operation is a turn of a few threads that everything shares. */
import { AsyncLocalStorage, createHook } from 'node:async_hooks';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makePlaces, placesOf } from '../../../src/executor/build-places.ts';
import { createBuildSteps } from '../../../src/executor/build-steps.ts';
import type { OwnProcesses } from '../../../src/executor/git-process.ts';
import { createKeptCheckouts } from '../../../src/executor/kept-checkout.ts';
import { prepareWorkspace, tamperedPlace, type WorkspaceDeps } from '../../../src/executor/workspace.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { buildRequest } from './fixture.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-cost-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Set in what is counted: other files of the process may still be closed meanwhile. */
const counted = new AsyncLocalStorage<true>();

/** The file operations that the work awaits. */
async function awaited(work: () => Promise<unknown>): Promise<number> {
  let count = 0;
  const hook = createHook({
    init(_id, type) {
      if (counted.getStore() && (type === 'FSREQPROMISE' || type === 'FSREQCALLBACK')) count += 1;
    },
  }).enable();
  try {
    await counted.run(true, work);
  } finally {
    hook.disable();
  }
  return count;
}

/** Builds of one slot, one after the other; git only records what it is asked for. */
function createSlot(overlays: boolean) {
  const processes: string[] = [];
  const own: OwnProcesses = {
    pack: async () => {},
    merged: async () => {},
    async git(_place, [command = '']) {
      processes.push(command);
    },
    async system([program = '']) {
      processes.push(program);
      return '';
    },
  };
  const deps: WorkspaceDeps = {
    own,
    checkoutBytes: null,
    kept: createKeptCheckouts(join(folder, '.kept'), own, Number.POSITIVE_INFINITY),
    repositories: {
      provide: async () => ({ kind: 'ready', gitDir: join(folder, 'mirror.git') }),
      checkoutSize: async () => ({ entries: 1, bytes: 1 }),
      fileLines: async () => undefined,
      commitMessage: async () => undefined,
    },
    sandbox: {
      overlays,
      isolated: overlays,
      reaches: () => true,
      ownerOf: () => null,
      view: () => ({ work: '/work', playbooks: '/playbooks', objects: () => '/objects' }),
    } as unknown as WorkspaceDeps['sandbox'],
  };
  const clock = systemClock();
  async function build(
    commit: string,
  ): Promise<{ readonly operations: number; readonly processes: string[] }> {
    const request = buildRequest(commit, { run: ['ci/ok.sh'] });
    const places = placesOf(folder, request.uuid);
    processes.length = 0;
    const operations = await awaited(async () => {
      makePlaces(places, null, places.work);
      const steps = createBuildSteps(clock, clock.now());
      const { overlays: mounted } = await prepareWorkspace(deps, request, places, 0, steps);
      expect(
        tamperedPlace(
          places,
          mounted.map(({ at }) => at),
        ),
      ).toBeUndefined();
    });
    return { operations, processes: [...processes] };
  }
  return { build };
}

const [FIRST, SECOND] = ['a'.repeat(40), 'b'.repeat(40)] as const;

test('a workspace with overlays awaits one deletion when it is made, and no file operation later', async () => {
  const { build } = createSlot(true);
  const made = await build(FIRST);
  expect(made.processes).toEqual(['read-tree']);
  expect(made.operations).toBeLessThanOrEqual(2);
  expect(await build(SECOND)).toEqual({ operations: 0, processes: ['reset'] });
  expect(await build(SECOND)).toEqual({ operations: 0, processes: [] });
});

test('a workspace of fresh checkouts awaits no file operation', async () => {
  const { build } = createSlot(false);
  expect(await build(FIRST)).toEqual({ operations: 0, processes: ['read-tree', 'read-tree'] });
});
