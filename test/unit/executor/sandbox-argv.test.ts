import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { placesOf } from '../../../src/executor/build-places.ts';
import {
  bubblewrapArgv,
  type Runtime,
  type SandboxedCommand,
} from '../../../src/executor/sandbox/bubblewrap-argv.ts';
import { type Isolation, type JobCommand, sandboxOf } from '../../../src/executor/sandbox/sandbox.ts';
import {
  firstPart,
  mountTable,
  onStage,
  type Stage,
  stagedArgv,
} from '../../../src/executor/sandbox/stage.ts';
import { randomIds } from '../../../src/lib/ids.ts';

const RUNTIME: Runtime = {
  program: '/usr/bin/bwrap',
  disableUserns: true,
  topLevel: [{ path: '/bin', linkTo: 'usr/bin' }],
  readOnly: ['/opt/tools'],
  prlimit: '/usr/bin/prlimit',
};
const COMMAND: SandboxedCommand = {
  work: '/jobs/b/work',
  info: '/jobs/b/info',
  etc: '/jobs/.etc',
  home: '/jobs/b/home',
  readOnly: [{ from: '/git/app/objects', to: '/git/host/app/objects' }],
  environment: { PATH: '/usr/bin' },
  cwd: '/build/src/host/app',
  network: false,
  limits: { processes: 10, openFiles: 20, fileBytes: 30 },
  seccomp: 5,
  secrets: null,
  argv: ['/playbooks/0/run.sh'],
};

/** Options that make something inside, with the position of their destination. */
const DESTINATIONS = new Map([
  ['--bind', 2],
  ['--ro-bind', 2],
  ['--ro-bind-try', 2],
  ['--tmpfs', 1],
  ['--proc', 1],
  ['--dev', 1],
  ['--symlink', 2],
  ['--remount-ro', 1],
]);

function destinations(argv: readonly string[]): { readonly option: string; readonly to: string }[] {
  const end = argv.indexOf('--');
  return argv.slice(0, end).flatMap((option, index) => {
    const offset = DESTINATIONS.get(option);
    return offset === undefined ? [] : [{ option, to: argv[index + offset] ?? '' }];
  });
}

describe('the arguments of bubblewrap', () => {
  test('make two lasting places writable, and nothing below them', () => {
    const made = destinations(bubblewrapArgv(RUNTIME, COMMAND));
    expect(made.filter(({ option }) => option === '--bind').map(({ to }) => to)).toEqual([
      '/home/job',
      '/build',
    ]);
    expect(made.filter(({ to }) => /^\/(build|home\/job)\//.test(to))).toEqual([]);
  });

  test('give a process of its own home one in memory', () => {
    const made = destinations(bubblewrapArgv(RUNTIME, { ...COMMAND, home: null }));
    expect(made.filter(({ option }) => option === '--bind').map(({ to }) => to)).toEqual(['/build']);
    expect(made.filter(({ to }) => to.startsWith('/home/job'))).toEqual([
      { option: '--tmpfs', to: '/home/job' },
      { option: '--symlink', to: '/home/job/src' },
    ]);
  });

  test('unshare everything, keep no capability, and end with a read-only root', () => {
    const argv = bubblewrapArgv(RUNTIME, COMMAND);
    for (const option of [
      '--unshare-all',
      '--unshare-user',
      '--disable-userns',
      '--new-session',
      '--die-with-parent',
      '--clearenv',
    ]) {
      expect(argv).toContain(option);
    }
    expect(argv[argv.indexOf('--cap-drop') + 1]).toBe('ALL');
    expect(argv).not.toContain('--share-net');
    const mounts = destinations(argv);
    expect(mounts.at(-1)).toEqual({ option: '--remount-ro', to: '/' });
    expect(mounts).toContainEqual({ option: '--remount-ro', to: '/dev' });
  });

  test('bound the size of every memory-backed place', () => {
    const argv = bubblewrapArgv(RUNTIME, { ...COMMAND, home: null });
    argv.forEach((option, index) => {
      if (option === '--tmpfs')
        expect(argv.slice(index - 4, index)).toEqual([
          '--size',
          expect.stringMatching(/^\d+$/),
          '--perms',
          expect.any(String),
        ]);
    });
    expect(argv.filter(option => option === '--tmpfs')).toHaveLength(3);
  });

  test('share the network, and the files it needs, only for a job that has it', () => {
    expect(bubblewrapArgv(RUNTIME, { ...COMMAND, network: true })).toEqual(
      expect.arrayContaining(['--share-net', '/etc/resolv.conf']),
    );
    expect(bubblewrapArgv(RUNTIME, COMMAND)).not.toContain('/etc/resolv.conf');
  });

  test('never let a value of the job become an option', () => {
    fc.assert(
      fc.property(fc.string(), fc.array(fc.string(), { minLength: 1 }), (value, argv) => {
        const made = bubblewrapArgv(RUNTIME, { ...COMMAND, environment: { EVIL: value }, argv });
        const plain = bubblewrapArgv(RUNTIME, { ...COMMAND, environment: { EVIL: 'x' }, argv: ['y'] });
        expect(made.indexOf('--clearenv')).toBe(plain.indexOf('--clearenv'));
        expect(made[made.indexOf('EVIL') - 1]).toBe('--setenv');
        expect(made.slice(made.length - argv.length)).toEqual(argv);
        expect(made).toHaveLength(plain.length - 1 + argv.length);
      }),
    );
  });
});

describe('a sandbox that listens for its job', () => {
  const isolation: Isolation & { kind: 'bubblewrap' } = {
    kind: 'bubblewrap',
    runtime: RUNTIME,
    etc: '/jobs/.etc',
    stage: null,
    overlays: false,
    seccomp: '/jobs/.seccomp',
    node: '/opt/node/bin/node',
  };
  const launch = (more: Partial<JobCommand>, changes: Partial<Isolation & { kind: 'bubblewrap' }> = {}) =>
    sandboxOf({
      walls: [],
      report: '',
      isolation: { ...isolation, ...changes },
      jobDir: '/jobs',
      gitDir: '/git',
      open: true,
      firstUser: null,
      userCount: 1,
      path: '/usr/bin',
    }).job(
      {
        ...{ places: placesOf('/jobs', randomIds().uuid()), overlays: [], mark: 'm', listen: true },
        ...COMMAND,
        secrets: null,
        ...more,
      },
      null,
    );

  test('begins with Node, hands over what it made, and becomes the command', () => {
    const { argv, handsOver } = launch({});
    expect(handsOver).toBe(true);
    const inside = argv.slice(argv.indexOf('--json-status-fd'));
    expect(inside).toEqual(
      expect.arrayContaining(['/bin/sh', '-c', 'gatehouse-relay', '/run/gatehouse/node', ...COMMAND.argv]),
    );
    expect(argv.slice(-COMMAND.argv.length)).toEqual(COMMAND.argv);
    expect(destinations([...argv])).toContainEqual({ option: '--ro-bind', to: '/run/gatehouse/node' });
  });

  test('has its filter of system calls behind the channel, or in its place', () => {
    const descriptor = (argv: readonly string[]) => argv[argv.indexOf('--seccomp') + 1];
    expect(launch({})).toMatchObject({ seccomp: '/jobs/.seccomp', handsOver: true });
    expect(descriptor(launch({}).argv)).toBe('5');
    expect(descriptor(launch({ listen: false }).argv)).toBe('4');
    const without = launch({}, { seccomp: null });
    expect(without.argv).not.toContain('--seccomp');
    expect(without.seccomp).toBeUndefined();
  });

  test('binds no Node that every job sees anyway', () => {
    const { argv } = launch({}, { node: '/usr/local/bin/node' });
    expect(argv).toContain('/usr/local/bin/node');
    expect(argv).not.toContain('/run/gatehouse/node');
  });

  test('is like any other when it is not requested, or the job is on the host’s network', () => {
    for (const { argv, handsOver } of [
      launch({ listen: false }),
      launch({ network: true }),
      launch({}, { node: null }),
    ]) {
      expect(handsOver).toBeUndefined();
      expect(argv).not.toContain('gatehouse-relay');
      expect(argv).not.toContain('/run/gatehouse/node');
    }
  });
});

describe('the stage', () => {
  const parts = { point: '/mnt', jobDir: '/var/jobs', gitDir: '/var/git', asRoot: true };
  const stage: Stage = { ...parts, table: '/var/jobs/.stage' };

  test('shows the two sources below its point and nothing else elsewhere', () => {
    expect(onStage(stage, '/var/jobs/b/work')).toBe('/mnt/jobs/b/work');
    expect(onStage(stage, '/var/git')).toBe('/mnt/git');
    expect(onStage(stage, '/var/jobsworth')).toBe('/var/jobsworth');
  });

  test('begins with three mounts of one table, also where a path has a blank', () => {
    expect(mountTable({ ...parts, jobDir: '/srv/my jobs\\#1' }).split('\n')).toEqual([
      'gatehouse /mnt tmpfs size=1m,mode=0755,nosuid,nodev 0 0',
      '/srv/my\\040jobs\\134\\0431 /mnt/jobs none bind,X-mount.mkdir 0 0',
      '/var/git /mnt/git none bind,X-mount.mkdir 0 0',
      '',
    ]);
  });

  test("is left for the job's user with no way back, before the command", () => {
    const argv = stagedArgv(stage, [], { uid: 64_601, gid: 64_601 }, ['git', 'status']);
    const setpriv = argv.indexOf('setpriv');
    expect(argv.slice(setpriv)).toEqual([
      'setpriv',
      '--reuid',
      '64601',
      '--regid',
      '64601',
      '--clear-groups',
      '--no-new-privs',
      '--inh-caps=-all',
      '--bounding-set=-all',
      '--',
      'git',
      'status',
    ]);
  });

  test('needs no root: a user namespace does', () => {
    expect(stagedArgv({ ...stage, asRoot: false }, [], null, ['true']).slice(0, 4)).toEqual([
      'unshare',
      '--user',
      '--map-root-user',
      '--mount',
    ]);
  });

  test('sees what the host mounts and unmounts later, and shows the host nothing', () => {
    for (const argv of [stagedArgv(stage, [], null, ['true']), firstPart(stage).argv])
      expect(argv.slice(0, 4)).toEqual(['unshare', '--mount', '--propagation', 'slave']);
  });

  test('refuses a path that would add an option to a mount', () => {
    const overlay = { lower: '/var/jobs/a,exec', layer: '/var/jobs/l', at: '/var/jobs/x' };
    expect(() => stagedArgv(stage, [overlay], null, ['true'])).toThrow('not a path for an overlay');
  });
});
