import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createNextStage } from '../../../src/executor/next-stage.ts';
import { type Stage, secondPart } from '../../../src/executor/sandbox/stage.ts';
import type { ProcessSpec, StageSpec } from '../../../src/executor/spawner/protocol.ts';
import { createSpawner, type PreparedStage, type Spawner } from '../../../src/executor/spawner/spawner.ts';
import { sha256 } from '../../../src/lib/ids.ts';
import { buildRequest, openBench, script } from './fixture.ts';
import { processesWith } from './processes.ts';

let folder: string;
let spawner: Spawner;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gatehouse-stage-'));
  spawner = createSpawner({ onCrash: () => {} });
});
afterAll(async () => {
  await spawner.close();
  await rm(folder, { recursive: true, force: true });
});

const SHELL: StageSpec = {
  argv: ['/bin/sh', '-e'],
  script: 'own=$$\n',
  env: { PATH: '/usr/bin:/bin' },
  cgroups: [],
};

let logs = 0;
/** @returns what the job of the stage printed, without stamps, and how it ended. */
async function run(stage: PreparedStage, text: string, changes: Partial<ProcessSpec> = {}) {
  logs += 1;
  const path = join(folder, `${logs}.log`);
  const end = await spawner.start({
    argv: ['/bin/sh', '-c', 'echo from its beginning'],
    env: { PATH: '/usr/bin:/bin' },
    cwd: '/',
    user: null,
    output: { kind: 'log', path, limit: 10_000 },
    timeoutMs: 20_000,
    graceMs: 300,
    reach: { kind: 'group' },
    staged: { stage: stage.id, script: text },
    ...changes,
  }).ended;
  return { end, lines: (await readFile(path, 'utf8')).replace(/^[^|\n]*\| /gm, '').trimEnd() };
}

async function hasLength(list: () => Promise<readonly string[]>, length: number): Promise<void> {
  await vi.waitFor(async () => expect(await list()).toHaveLength(length), { timeout: 20_000 });
}

describe('a stage that is ready', () => {
  test('goes on as the job: the same process, with nothing on its standard input', async () => {
    const { end, lines } = await run(
      spawner.prepare(SHELL),
      `exec /bin/sh -c '[ $$ = "$1" ] && echo the same; cat; ls /proc/self/fd; exit 3' job "$own" </dev/null 4<&-\n`,
    );
    expect(end).toMatchObject({ kind: 'ended', because: 'itself', code: 3 });
    // Of bubblewrap's status is 3, and the last is the folder that `ls` reads.
    expect(lines.split('\n')).toEqual(['the same', '0', '1', '2', '3', '4']);
  });

  test('hands the job its secrets at the descriptor that bubblewrap reads', async () => {
    const { lines } = await run(spawner.prepare(SHELL), 'exec cat <&4\n', { secrets: 'opensesame' });
    expect(lines).toBe('opensesame');
  });

  test('that has ended leaves the job to start from its beginning', async () => {
    const name = `ends-${process.pid}`;
    const stage = spawner.prepare({ ...SHELL, argv: ['/bin/sh', '-e', '-s', name], script: 'exit 3\n' });
    // The spawner, which does one thing after the other, has begun it by then; and it learns of all ends at once.
    await run(spawner.prepare(SHELL), 'exit 0\n');
    await hasLength(() => processesWith(name), 0);
    await run(spawner.prepare(SHELL), 'exit 0\n');
    expect((await run(stage, 'echo never\n')).lines).toBe('from its beginning');
  });

  test('that could not be made, or is not known, leaves the job to start from its beginning', async () => {
    const broken = spawner.prepare({ ...SHELL, argv: ['/bin/echo', 'a\0b'] });
    const forbidden = spawner.prepare({ ...SHELL, seccomp: join(folder, 'no such file') });
    const unknown = { id: 12_345, discard: () => {} };
    for (const stage of [broken, forbidden, unknown])
      expect(await run(stage, 'echo never\n')).toMatchObject({
        end: { kind: 'ended', code: 0 },
        lines: 'from its beginning',
      });
  });

  test('serves one job', async () => {
    const stage = spawner.prepare(SHELL);
    expect((await run(stage, 'echo staged\n')).lines).toBe('staged');
    expect((await run(stage, 'echo staged\n')).lines).toBe('from its beginning');
  });

  test('is stopped like any job, and takes its children along', async () => {
    const { end } = await run(spawner.prepare(SHELL), 'sleep 100.25 &\nsleep 100.25\n', { timeoutMs: 100 });
    expect(end).toMatchObject({ because: 'timeout' });
    await hasLength(() => processesWith('100.25'), 0);
  });

  test('ends when it is discarded, and when the spawner is killed', async () => {
    const waiting = () => processesWith(`waits-${process.pid}`);
    const named = { ...SHELL, argv: ['/bin/sh', '-e', '-s', `waits-${process.pid}`] };
    const other = createSpawner({ onCrash: () => {} });
    await other.ready();
    const stage = other.prepare(named);
    await hasLength(() => waiting(), 1);
    stage.discard();
    await hasLength(() => waiting(), 0);
    other.prepare(named);
    await hasLength(() => waiting(), 1);
    process.kill(other.pid() ?? expect.unreachable(), 'SIGKILL');
    await hasLength(() => waiting(), 0);
    await other.close();
  });
});

describe('the script of a job', () => {
  const stage: Stage = { point: '/mnt', jobDir: '/j', gitDir: '/g', asRoot: true, table: '/j/.stage' };
  const read = (text: string, env: Record<string, string> = {}) =>
    execFileSync('/bin/sh', ['-e'], { input: text, env: { PATH: '/usr/bin:/bin', ...env } });

  test('is read by a shell as the very words, with any character in them', () => {
    const word = fc.string({ unit: 'binary', maxLength: 30 }).filter(text => !text.includes('\0'));
    const hostile = fc.constantFrom(
      "'",
      "'; touch /tmp/x; '",
      '$(id)',
      '`id`',
      '\\',
      "\\'",
      '\n',
      '--',
      '"$1"',
      '',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(word, hostile), { maxLength: 5 }), word, (words, value) => {
        const argv = ['sh', '-c', 'printf "%s\\0" "$VALUE" "$@"', 'sh', ...words];
        const text = secondPart(stage, [], null, { argv, env: { VALUE: value }, closed: [4] });
        const printed = read(text).toString().split('\0').slice(0, -1);
        expect(printed).toEqual([value, ...words].map(each => each.toWellFormed()));
      }),
      { numRuns: 60 },
    );
  });

  test('mounts the overlays of its build before anything else, by a table beside their layers', () => {
    const overlay = { lower: '/j/.kept/0', layer: '/j/b/layers/0', at: '/j/b/work/src/p' };
    const text = secondPart(stage, [overlay], { uid: 7, gid: 8 }, { argv: ['true'], env: {}, closed: [] });
    expect(text.split('\n')).toEqual([
      "'printf' '%s' 'overlay /mnt/jobs/b/work/src/p overlay lowerdir=/mnt/jobs/.kept/0,upperdir=/mnt/jobs/b/layers/0/upper,workdir=/mnt/jobs/b/layers/0/work 0 0",
      "' > '/j/b/layers/0.mounts'",
      "'mount' '--all' '--fstab' '/j/b/layers/0.mounts' </dev/null",
      "exec 'setpriv' '--reuid' '7' '--regid' '8' '--clear-groups' '--no-new-privs' '--inh-caps=-all' '--bounding-set=-all' '--' 'true' </dev/null",
      '',
    ]);
  });
});

describe('the next stage', () => {
  test('is made when a playbook has started, one at most, and removed with the executor', async () => {
    const made: string[] = [];
    const gone: string[] = [];
    const removed = async (name: string) => {
      gone.push(name);
      return [];
    };
    let count = 0;
    const next = createNextStage(
      {
        prepare: () => {
          const id = count;
          made.push(`stage ${id}`);
          return { id, discard: () => void gone.push(`stage ${id}`) };
        },
      },
      { stage: SHELL },
      {
        make: async () => {
          count += 1;
          const name = `group ${count}`;
          const events = () => ({ outOfMemory: 0, refusedForks: 0 });
          return { groups: [], events, remove: () => removed(name) };
        },
      },
    );
    expect((await next.take()).stage?.id).toBe(1);
    next.prepare();
    next.prepare();
    expect((await next.take()).stage?.id).toBe(2);
    expect((await next.take()).stage?.id).toBe(3);
    next.prepare();
    await next[Symbol.asyncDispose]();
    next.prepare();
    expect(made).toEqual(['stage 1', 'stage 2', 'stage 3', 'stage 4']);
    expect(gone).toEqual(['stage 4', 'group 4']);
  });

  test('that cannot be made is made again when it is taken, which says why it cannot', async () => {
    const next = createNextStage(
      spawner,
      { stage: SHELL },
      { make: () => Promise.reject(new Error('no space left')) },
    );
    next.prepare();
    await expect(next.take()).rejects.toThrow('no space left');
    await next[Symbol.asyncDispose]();
  });

  test('leaves no control group behind when the executor ends', async () => {
    const places = ['memory', 'pids', 'cpu', ''].map(name => join('/sys/fs/cgroup', name));
    let own = '';
    const groups = () => places.flatMap(place => entries(place)).filter(name => name.startsWith(own));
    {
      await using bench = await openBench({ sandbox: 'auto' });
      own = `gatehouse-${sha256(bench.executor.jobDir).slice(0, 12)}-`;
      const commit = await bench.commit({ 'ci/true.sh': script('true') });
      for (let round = 0; round < 2; round += 1) {
        const { result } = await bench.submit(buildRequest(commit, { run: ['ci/true.sh'] })).ended;
        expect(result.result).toBe('SUCCESS');
      }
      const grouped = bench.executor.walls.some(
        ({ name, text }) => name === 'processes' && /cgroup/.test(text),
      );
      if (grouped) expect(new Set(groups()).size).toBe(1);
    }
    expect(groups()).toEqual([]);
  });
});

function entries(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
