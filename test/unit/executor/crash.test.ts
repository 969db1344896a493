/** `kill -9` of the service: nothing of its jobs goes on, and the next start clears up. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test } from 'vitest';
import { thisProcess } from '../../../src/executor/process-identity.ts';
import { randomIds } from '../../../src/lib/ids.ts';
import { openBench, until } from './fixture.ts';
import { goneWith, markedProcesses, processesWith } from './processes.ts';

const folders: string[] = [];
const children: ChildProcess[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-crash-'));
  folders.push(folder);
  return folder;
}

async function startService(folder: string, mode: string, body: string, ...more: readonly string[]) {
  const program = fileURLToPath(new URL('service-to-kill.ts', import.meta.url));
  const child = spawn(process.execPath, [program, folder, mode, body, ...more], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  let said = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const line = await until(() => (said.includes('\n') ? said : undefined), 'the service to run its job');
  return { child, build: /"build":"([0-9a-f]{32})"/.exec(line)?.[1] ?? '', said: () => said };
}

describe('after kill -9 of the service', () => {
  test.each(['none', 'auto'])(
    'no process of a job goes on, daemons included (sandbox = %s), and the next start removes its directory',
    async mode => {
      const folder = await newFolder();
      const number = mode === 'none' ? '4721' : '4722';
      const body = `(setsid sh -c "exec >/dev/null 2>&1; sleep ${number}" &); sleep 0.2; echo begun; sleep ${number}`;
      const { child, build } = await startService(folder, mode, body);
      expect((await processesWith(number)).length).toBeGreaterThan(0);
      expect(await markedProcesses(build)).not.toEqual([]);
      child.kill('SIGKILL');
      await until(goneWith(number), 'the job to be gone');
      const jobs = await jobDirOf(folder, build);
      expect(await readdir(jobs)).toContain(build);
      {
        await using bench = await openBench({ sandbox: mode === 'none' ? 'none' : 'auto' }, { folder });
        expect(bench.warnings.filter(text => text.includes('another executor'))).toEqual([]);
        expect(await readdir(jobs)).not.toContain(build);
      }
    },
  );
});

describe('a service that is stopped in its tracks', () => {
  test.each(['none', 'auto'])(
    'loses its jobs when its session would be over, and says RETRY when it goes on (sandbox = %s)',
    async mode => {
      const number = mode === 'none' ? '4724' : '4725';
      const { child, said } = await startService(await newFolder(), mode, `echo begun; sleep ${number}`, '2');
      await until(
        async () => ((await processesWith(number)).length > 0 ? true : undefined),
        'the job to run what follows its first line',
      );
      child.kill('SIGSTOP');
      await until(goneWith(number), 'the job to be gone');
      child.kill('SIGCONT');
      await until(() => (said().includes('"result"') ? true : undefined), 'the result');
      expect(said()).toContain('{"result":"RETRY","detail":"run playbook ci/run.sh was stopped"}');
    },
  );

  test('keeps its jobs while it speaks, however long they run', async () => {
    const body = 'echo begun; sleep 4; echo done';
    const { said } = await startService(await newFolder(), 'none', body, '1.5');
    await until(() => (said().includes('"result"') ? true : undefined), 'the result');
    expect(said()).toContain('{"result":"SUCCESS"}');
  });
});

describe('several executors of one machine with one job_dir', () => {
  test('outlive kill -9 of one of them: its job goes, theirs goes on, its directory is swept by the next', async () => {
    const folder = await newFolder();
    const one = await startService(folder, 'auto', 'echo begun; sleep 4726');
    const two = await startService(folder, 'auto', 'echo begun; sleep 4727');
    one.child.kill('SIGKILL');
    await until(goneWith('4726'), 'the job to be gone');
    {
      await using bench = await openBench({ sandbox: 'auto' }, { folder });
      expect(bench.warnings.join()).not.toContain('another executor');
      const places = await Promise.all([one, two].map(({ build }) => placesOf(folder, build)));
      expect(places.map(each => each.length)).toEqual([0, 1]);
      expect((await processesWith('4727')).length).toBeGreaterThan(0);
    }
    two.child.kill('SIGKILL');
  });
});

/** Where a build's directory is: below the executor's own place, or where jobs can enter if they could not enter that. */
async function placesOf(folder: string, build: string): Promise<string[]> {
  const roots = (await readdir(tmpdir())).filter(name => name.startsWith('gatehouse-jobs-'));
  const found = await promisify(execFile)('find', [
    ...[join(folder, 'jobs'), ...roots.map(name => join(tmpdir(), name))],
    ...['-maxdepth', '3', '-name', build, '-not', '-path', '*/.trash/*'],
  ]);
  return found.stdout.split('\n').filter(line => line !== '');
}

describe('the sweep at start', () => {
  test('kills what was orphaned before it had bound its life to the executor: of a build, of a self-test', async () => {
    const folder = await newFolder();
    // Other tests have processes at the same time.
    const [word, otherWord] = [randomIds().uuid(), randomIds().uuid()];
    const marks = [randomIds().uuid(), '.self-test-Ab3xYz'];
    for (const mark of marks) {
      await mkdir(join(folder, 'jobs', mark), { recursive: true });
      const orphan = spawn('sh', ['-c', 'echo ready; read _', word], {
        env: { PATH: '/usr/bin:/bin', GATEHOUSE_PROCESS: mark },
        stdio: ['pipe', 'pipe', 'ignore'],
        detached: true,
      });
      children.push(orphan);
      // Its environment shows only when the program has begun, which is after the call that started it.
      await once(orphan.stdout, 'data');
    }
    const other = spawn('sh', ['-c', 'read _', otherWord], { stdio: ['pipe', 'ignore', 'ignore'] });
    children.push(other);
    expect(await processesWith(word)).toHaveLength(marks.length);
    await using bench = await openBench({ sandbox: 'auto' }, { folder });
    expect(bench.executor.isolated).toBe(true);
    expect(await processesWith(word)).toEqual([]);
    expect(await processesWith(otherWord)).toHaveLength(1);
    expect(await readdir(join(folder, 'jobs'))).not.toEqual(expect.arrayContaining(marks));
  });

  test('leaves alone what another executor that still runs works on, and says so', async () => {
    const folder = await newFolder();
    const busy = randomIds().uuid();
    await mkdir(join(folder, 'jobs', busy), { recursive: true });
    await writeFile(join(folder, 'jobs', busy, 'process.json'), JSON.stringify(thisProcess()));
    await using bench = await openBench({ sandbox: 'auto' }, { folder });
    const places = bench.executor.isolated ? [busy] : [];
    expect(
      (await readdir(join(folder, 'jobs'))).filter(name => name === busy && bench.executor.isolated),
    ).toEqual(places);
    if (bench.executor.isolated)
      expect(bench.warnings.join()).toContain('another executor runs builds in the same directory');
  });

  test('does not take a process with the same pid, started at another time, for the one that worked there', async () => {
    const folder = await newFolder();
    const old = randomIds().uuid();
    await mkdir(join(folder, 'jobs', old), { recursive: true });
    await writeFile(
      join(folder, 'jobs', old, 'process.json'),
      JSON.stringify({ pid: process.pid, started: 'another boot/1' }),
    );
    await using bench = await openBench({ sandbox: 'auto' }, { folder });
    if (bench.executor.isolated) expect(await readdir(join(folder, 'jobs'))).not.toContain(old);
    expect(bench.warnings.join()).not.toContain('another executor');
  });
});

/** Where the builds really are: without a sandbox, as root, not below a private directory. */
async function jobDirOf(folder: string, build: string): Promise<string> {
  const own = join(folder, 'jobs');
  if ((await readdir(own)).includes(build)) return own;
  const others = (await readdir(tmpdir()))
    .filter(name => name.startsWith('gatehouse-jobs-'))
    .map(name => join(tmpdir(), name));
  for (const other of others) if ((await readdir(other)).includes(build)) return other;
  throw new Error(`build ${build} has no directory`);
}
