/** Against files in the place of the kernel's: what is written where, and what is made of what is read. */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type CgroupHierarchy,
  makeBuildCgroup,
  removeLeftCgroups,
} from '../../../../src/executor/cgroup/build-cgroups.ts';
import { findCgroupPlaces } from '../../../../src/executor/cgroup/find-place.ts';
import { inCgroups, limitMemory } from '../../../../src/executor/spawner/cgroup-of-child.ts';

let top: string;
beforeEach(async () => {
  top = await mkdtemp(join(tmpdir(), 'gatehouse-cgroup-'));
});
afterEach(() => rm(top, { recursive: true, force: true }));

async function group(path: string, facts: { controllers?: string; procs?: string } = {}): Promise<string> {
  await mkdir(path, { recursive: true });
  await writeFile(join(path, 'cgroup.controllers'), `${facts.controllers ?? 'cpuset cpu io memory pids'}\n`);
  await writeFile(join(path, 'cgroup.procs'), facts.procs ?? '');
  return path;
}

const NO_LEGACY = ['memory', 'pids', 'cpu'].map(name => `there is no cgroup v1 for ${name}`).join('; ');

const system = (own: string, isRoot = false) => ({
  mounts: `21 20 0:19 / /proc rw - proc proc rw\n30 20 0:27 / ${top} rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n`,
  own: `0::${own}\n`,
  pids: [41, 42],
  isRoot,
});

describe('the place for control groups', () => {
  test('is our own group where we are alone in it, and we step aside', async () => {
    const own = await group(join(top, 'system.slice/gatehouse.service'), { procs: '41\n42\n' });
    expect(await findCgroupPlaces(system('/system.slice/gatehouse.service'))).toEqual({
      hierarchies: [
        {
          version: 2,
          parent: own,
          home: join(own, 'gatehouse-service'),
          controllers: new Set(['memory', 'pids', 'cpu']),
        },
      ],
      because: '',
    });
    expect(await readFile(join(own, 'gatehouse-service/cgroup.procs'), 'latin1')).toBe('42');
    expect(await readFile(join(own, 'cgroup.subtree_control'), 'latin1')).toBe('+memory +pids +cpu');
  });

  test('is never a group with processes of others: for root it is then the top', async () => {
    const own = await group(join(top, 'user.slice/session'), { procs: '7\n41\n42\n' });
    await group(top);
    expect(await findCgroupPlaces(system('/user.slice/session'))).toEqual({
      hierarchies: [],
      because: `${own}: it holds processes of others; ${NO_LEGACY}`,
    });
    expect(await findCgroupPlaces(system('/user.slice/session', true))).toMatchObject({
      hierarchies: [{ version: 2, parent: top, home: own }],
    });
    expect(await readdir(own)).not.toContain('gatehouse-service');
  });

  test('is none without the controllers, or where nothing was delegated', async () => {
    expect(await findCgroupPlaces({ ...system('/'), mounts: '', own: '' })).toEqual({
      hierarchies: [],
      because: `this system has no cgroup v2; ${NO_LEGACY}`,
    });
    await group(top, { controllers: 'hugetlb' });
    expect(await findCgroupPlaces(system('/', true))).toEqual({
      hierarchies: [],
      because: `${top}: the controllers memory and pids are not available there; ${NO_LEGACY}`,
    });
    expect(await findCgroupPlaces(system('/'))).toMatchObject({
      because: `no group was delegated to this service (systemd: Delegate=yes); ${NO_LEGACY}`,
    });
  });

  test('is our own group of each controller where there is version 1 only, also mounted together or in a container', async () => {
    const memory = join(top, 'memory/service');
    const together = join(top, 'cpu,cpuacct');
    for (const each of [memory, together]) await mkdir(each, { recursive: true });
    const found = await findCgroupPlaces({
      ...system('/'),
      mounts: [
        `31 30 0:28 / ${join(top, 'memory')} rw,relatime shared:10 - cgroup cgroup rw,memory`,
        `32 30 0:29 /docker/1 ${together} rw,relatime - cgroup cgroup rw,cpu,cpuacct`,
        `33 30 0:30 / ${join(top, 'pids')} ro,relatime - cgroup cgroup rw,pids`,
        '',
      ].join('\n'),
      own: '4:memory:/service\n2:cpu,cpuacct:/docker/1\n8:pids:/closed\n',
    });
    expect(found.hierarchies).toEqual([
      { version: 1, parent: memory, home: memory, controllers: new Set(['memory']) },
      { version: 1, parent: together, home: together, controllers: new Set(['cpu']) },
    ]);
    expect(found.because).toContain(`${join(top, 'pids/closed')}: ENOENT`);
  });
});

describe('the control group of a build', () => {
  const places = (version: 1 | 2 = 2): readonly CgroupHierarchy[] => [
    { version, parent: top, home: join(top, 'home'), controllers: new Set(['memory', 'pids', 'cpu']) },
  ];
  const path = () => join(top, 'gatehouse-e-b');
  const read = (path: string, file: string) => readFile(join(path, file), 'latin1');

  test('bounds memory without swap, processes, and the share of the processors', async () => {
    const { groups } = await makeBuildCgroup(places(), 'e', 'b', { memory: 5_000_000, processes: 64 });
    expect(groups).toMatchObject([{ path: path(), home: join(top, 'home') }]);
    expect(await readdir(path())).not.toContain('memory.max');
    expect(limitMemory(groups)).toBe('limited');
    expect(await read(path(), 'memory.max')).toBe('5000000');
    expect(await read(path(), 'memory.swap.max')).toBe('0');
    expect(await read(path(), 'pids.max')).toBe('64');
    expect(await read(path(), 'cpu.weight')).toBe('50');
  });

  test('does so on version 1, too', async () => {
    const { groups } = await makeBuildCgroup(places(1), 'e', 'b', { memory: 5_000_000, processes: 64 });
    expect(limitMemory(groups)).toBe('limited');
    expect(await read(path(), 'memory.limit_in_bytes')).toBe('5000000');
    expect(await read(path(), 'memory.memsw.limit_in_bytes')).toBe('5000000');
    expect(await read(path(), 'pids.max')).toBe('64');
    expect(await read(path(), 'cpu.shares')).toBe('512');
  });

  test('reports what the kernel did at its limits', async () => {
    const made = await makeBuildCgroup(places(), 'e', 'b', { memory: null, processes: 64 });
    expect(made.events()).toEqual({ outOfMemory: 0, refusedForks: 0 });
    await writeFile(join(path(), 'memory.events'), 'low 0\nhigh 0\nmax 12\noom 2\noom_kill 2\n');
    await writeFile(join(path(), 'pids.events'), 'max 7\n');
    expect(made.events()).toEqual({ outOfMemory: 2, refusedForks: 7 });
    expect(await readdir(path())).not.toContain('memory.max');
  });

  test('left by an earlier run is removed, that of another executor is not', async () => {
    await mkdir(join(top, 'gatehouse-other-b'));
    await removeLeftCgroups({ parent: top, version: 2 }, 'e');
    expect(await readdir(top)).toEqual(['gatehouse-other-b']);
  });

  test('is entered for the fork alone, even if it fails', async () => {
    const [path, home] = [await group(join(top, 'build')), await group(join(top, 'home'))];
    const groups = [{ path, home, memoryLimits: [] }];
    const during = inCgroups(groups, () => 'forked');
    expect(during).toBe('forked');
    expect([await read(path, 'cgroup.procs'), await read(home, 'cgroup.procs')]).toEqual(['0', '0']);
    await writeFile(join(home, 'cgroup.procs'), '');
    expect(() =>
      inCgroups(groups, () => {
        throw new Error('no fork');
      }),
    ).toThrow('no fork');
    expect(await read(home, 'cgroup.procs')).toBe('0');
  });
});
