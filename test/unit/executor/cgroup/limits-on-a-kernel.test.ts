/** Jobs that reach a limit of their control group, with real processes: they fail, and nothing else does. */
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { buildRequest, openBench, script } from '../fixture.ts';
import { processesWith } from '../processes.ts';

/** Where groups for builds can be made. */
interface Place {
  readonly version: 1 | 2;
  /** They are made below it. */
  readonly parent: string;
  /** This process is in it. */
  readonly home: string;
}

/** Found without our own search: version 2 where it has the memory of builds, as root at its top, else version 1. */
function placeOfGroups(): Place | undefined {
  const mounts = readFileSync('/proc/self/mountinfo', 'latin1');
  const own = readFileSync('/proc/self/cgroup', 'latin1');
  const top = /^\S+ \S+ \S+ \/ (\S+) .*? - cgroup2 /m.exec(mounts)?.[1];
  const unified = /^0::(\/.*)$/m.exec(own)?.[1];
  if (top !== undefined && unified !== undefined && hasMemory(top))
    return { version: 2, parent: top, home: join(top, unified) };
  const legacy = /^\d+:memory:(\/.*)$/m.exec(own)?.[1];
  const mount = /^\S+ \S+ \S+ \/ (\S+) .*? - cgroup \S+ \S*memory/m.exec(mounts)?.[1];
  if (legacy === undefined || mount === undefined) return undefined;
  const home = join(mount, legacy);
  return { version: 1, parent: home, home };
}

function hasMemory(top: string): boolean {
  return readFileSync(join(top, 'cgroup.controllers'), 'latin1').split(/\s+/).includes('memory');
}

/** Undefined: none can be made here. */
function usablePlace(): Place | undefined {
  const place = placeOfGroups();
  if (place === undefined) return undefined;
  const probe = join(place.parent, `gatehouse-test-${process.pid}`);
  try {
    if (place.version === 2) writeFileSync(join(place.parent, 'cgroup.subtree_control'), '+memory +pids');
    mkdirSync(probe);
    rmdirSync(probe);
    return place;
  } catch {
    return undefined;
  }
}

const PLACE = usablePlace();
const MEMORY = 64_000_000;
const PROCESSES = 40;

describe.skipIf(PLACE === undefined)('a build at the limits of its control group (root)', () => {
  test('that takes too much memory at once ends alone, however late the spawner goes on', async () => {
    const { version, parent, home } = PLACE ?? expect.unreachable();
    const path = join(parent, `gatehouse-test-${process.pid}-slow`);
    const file = { 1: 'memory.limit_in_bytes', 2: 'memory.max' }[version];
    const memoryLimits = [{ file, value: MEMORY, optional: false }];
    mkdirSync(path);
    try {
      const script = join(import.meta.dirname, 'slow-fork.ts');
      const spawner = promisify(execFile)(process.execPath, [
        script,
        JSON.stringify({ path, home, memoryLimits }),
      ]);
      // Version 1 refuses such a limit; version 2 kills what is over it.
      expect((await spawner).stdout.trim()).toBe({ 1: 'exceeded', 2: 'limited' }[version]);
      if (version === 2)
        expect(readFileSync(join(path, 'memory.events'), 'latin1')).toMatch(/^oom_kill [1-9]/m);
    } finally {
      // The killed take a moment to go.
      await vi.waitFor(() => rmdirSync(path), { timeout: 10_000 });
    }
  });

  for (const mode of ['none', 'auto'] as const)
    describe(`with sandbox = ${mode}`, async () => {
      const bench = await openBench({ sandbox: mode, memoryLimitBytes: MEMORY, maxProcesses: PROCESSES });
      afterAll(() => bench[Symbol.asyncDispose]());
      const run = async (body: string) => {
        const commit = await bench.commit({ 'ci/try.sh': script(body) });
        return bench.submit(buildRequest(commit, { run: ['ci/try.sh'] })).ended;
      };

      test('the executor says that the walls stand', () => {
        const stands = (name: string) => bench.executor.walls.find(wall => wall.name === name);
        expect(stands('memory')).toEqual({
          name: 'memory',
          state: 'stands',
          text: `${MEMORY} bytes per build, cgroup v${PLACE?.version}`,
        });
        expect(stands('processes')).toMatchObject({
          state: 'stands',
          text: `${PROCESSES} per build, cgroup v${PLACE?.version}`,
        });
      });

      test('that takes too much memory fails with a line that says so, and another build goes on', async () => {
        const commit = await bench.commit({
          'ci/hog.sh': script('head -c 300000000 /dev/zero | tail'),
          'ci/other.sh': script('sleep 1; echo untouched'),
        });
        const begun = ['ci/hog.sh', 'ci/other.sh'].map(path =>
          bench.submit(buildRequest(commit, { run: [path] })),
        );
        const [hog, other] = await Promise.all(begun.map(({ ended }) => ended));
        if (hog === undefined || other === undefined) expect.unreachable();
        expect(hog.result).toMatchObject({ result: 'FAILURE' });
        expect(hog.result.detail).toContain(`the build reached its limit of ${MEMORY} bytes of memory`);
        expect(hog.log).toContain('the kernel killed');
        expect(other.result).toMatchObject({ result: 'SUCCESS' });
      });

      test('that takes it with many small processes fails as well', async () => {
        const { result } = await run(
          'for i in 1 2 3 4 5 6; do (head -c 30000000 /dev/zero | tail | wc -c) & done; wait; exit 1',
        );
        expect(result.result).toBe('FAILURE');
        expect(result.detail).toContain('bytes of memory');
      });

      test('that forks without end is refused more, gets an error, and leaves nothing', async () => {
        const { result, log } = await run(
          'bomb() { bomb | bomb & }; bomb; i=0; while [ $i -lt 100 ]; do sleep 4714 & i=$((i+1)); done; echo unbounded',
        );
        expect(result.result).not.toBe('SUCCESS');
        expect(log).toContain(`the build reached its limit of ${PROCESSES} processes`);
        expect(log).not.toContain('| unbounded');
        expect(await processesWith('4714')).toEqual([]);
      });
    });
});
