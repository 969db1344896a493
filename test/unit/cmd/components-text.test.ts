import { expect, test } from 'vitest';
import type { ComponentJson } from '../../../src/api/components.ts';
import { componentsLines } from '../../../src/cmd/commands/components-text.ts';
import type { Wall } from '../../../src/model/wall.ts';

const NOW = 1_795_000_000_000;
const LOOK = { width: 84, colour: false, root: 'http://127.0.0.1:9000', now: NOW };

function component(
  id: string,
  more: Partial<ComponentJson> & Partial<ComponentJson['gatehouse']> = {},
): ComponentJson {
  const { hostname = 'ci1', state = 'running', version = '0.2.0', ...rest } = more;
  const gatehouse = {
    id,
    pid: 4711,
    started_at: NOW - 7_380_000,
    labels: [],
    ansible_versions: [],
    zone: null,
    allow_unzoned: false,
    address: null,
    wanted: null,
    trouble: null,
    walls: [],
    ...rest,
  };
  return { hostname, state, version, gatehouse };
}

test('the components stand by kind, in columns', () => {
  const all = {
    scheduler: [component('scheduler-0')],
    merger: [component('merger-12', { hostname: 'ci10', pid: 9 })],
    executor: [
      component('executor-4', { labels: ['linux', 'gpu'], wanted: 'paused' }),
      component('executor-7', { state: 'paused', wanted: 'paused', started_at: NOW - 65_000 }),
      component('executor-8', { state: 'stopping', wanted: 'stopping' }),
    ],
    web: [component('web-1')],
  };
  expect(`\n${componentsLines(all, LOOK).join('\n')}\n`).toBe(
    `
6 components on ci1, ci10                                      http://127.0.0.1:9000

scheduler
  ● scheduler-0   running            up 2h 03m   ci1    pid 4711
merger
  ● merger-12     running            up 2h 03m   ci10   pid 9
executor
  ● executor-4    running → paused   up 2h 03m   ci1    pid 4711   linux gpu
  ‖ executor-7    paused             up 1m 05s   ci1    pid 4711
  ◌ executor-8    stopping           up 2h 03m   ci1    pid 4711
web
  ● web-1         running            up 2h 03m   ci1    pid 4711
`,
  );
});

test('what does not happen without a kind is said, and versions where they differ', () => {
  const all = {
    scheduler: [component('scheduler-0'), component('scheduler-1', { version: '0.3.0' })],
    merger: [],
    executor: [],
    web: [],
  };
  expect(componentsLines(all, LOOK)).toEqual([
    '2 components on ci1                                            http://127.0.0.1:9000',
    '',
    'scheduler',
    '  ● scheduler-0   running   up 2h 03m   ci1   pid 4711   0.2.0',
    '  ● scheduler-1   running   up 2h 03m   ci1   pid 4711   0.3.0',
    'merger',
    '  ! none: nothing is merged and no configuration is read until one starts',
    'executor',
    '  ! none: no job runs until one starts',
  ]);
});

test('nothing at all is a picture, too', () => {
  expect(componentsLines({ scheduler: [], merger: [], executor: [], web: [] }, LOOK)[0]).toMatch(
    /^no components/,
  );
});

test('what other machines call themselves cannot paint the terminal', () => {
  const all = {
    scheduler: [component('scheduler-0', { hostname: 'ci\u001b[31m' })],
    merger: [],
    executor: [],
    web: [],
  };
  expect(componentsLines(all, LOOK).join('')).not.toContain('\u001b');
});

test('an executor says which walls its jobs do not meet, and why', () => {
  const walls: readonly Wall[] = [
    { name: 'sandbox', state: 'stands', text: 'bubblewrap 0.8.0' },
    { name: 'system-calls', state: 'missing', text: 'no filter for riscv64' },
    { name: 'memory', state: 'off', text: 'memory_limit_per_job is not set' },
    {
      name: 'cpu',
      state: 'missing',
      text: '/sys/fs/cgroup: it holds processes of others, and\u001b[31m this is a long reason',
    },
    { name: 'disk', state: 'off', text: 'disk_limit_per_job is -1' },
  ];
  const all = { executor: [component('executor-4', { walls }), component('executor-5')] };
  expect(`\n${componentsLines(all, LOOK).join('\n')}\n`).toBe(`
2 components on ci1                                            http://127.0.0.1:9000

executor
  ● executor-4   running   up 2h 03m   ci1   pid 4711
      ! system-calls: NO WALL (no filter for riscv64)
      ! cpu: NO WALL (/sys/fs/cgroup: it holds processes of others, and�[31m this i…
      disabled in its settings: memory, disk
  ● executor-5   running   up 2h 03m   ci1   pid 4711
`);
});
