import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readlinkSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createStarter, type Starter, startAside } from '../../../src/git/starter/start-aside.ts';

const MODULE = path.resolve(import.meta.dirname, '../../../src/git/starter/start-aside.ts');

function run(starter: Starter, file: string, ...args: readonly string[]) {
  return starter.start({ file, args, cwd: '/', env: { PATH: process.env.PATH ?? '' } });
}

async function untilGone(pid: number | undefined): Promise<void> {
  await vi.waitUntil(() => !existsSync(`/proc/${pid}/exe`), { timeout: 20_000 });
}

describe('git started by a process of its own', () => {
  it('gets its input and gives its output byte by byte, many at once', async () => {
    const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 251));
    const outputs = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const child = startAside({ file: 'cat', args: [], cwd: '/', env: {} });
        child.stdin.end(bytes.subarray(index));
        return [(await buffer(child.stdout)).equals(bytes.subarray(index)), await child.ended];
      }),
    );
    expect(outputs).toEqual(outputs.map(() => [true, { kind: 'exited', code: 0 }]));
  });

  it('ends only when its output was read to the end, and is not blocked by a git that does not read its input', async () => {
    const child = run(createStarter(), 'sh', '-c', 'echo out; echo err >&2; kill -TERM $$');
    child.stdin.end('x'.repeat(1_000_000));
    expect(await Promise.all([text(child.stdout), text(child.stderr), child.ended])).toEqual([
      'out\n',
      'err\n',
      { kind: 'killed', signal: 'SIGTERM' },
    ]);
  });

  it('says why it could not be started', async () => {
    const child = run(createStarter(), '/nonexistent/git');
    expect(await child.ended).toMatchObject({
      kind: 'not-started',
      reason: expect.stringContaining('ENOENT'),
    });
  });

  it('is killed when that process dies, and the next begins another', async () => {
    const starter = createStarter();
    const child = run(starter, 'sleep', '100');
    await vi.waitUntil(() => child.pid !== undefined, { timeout: 20_000 });
    const helper = starter.pid();
    process.kill(helper ?? 0, 'SIGKILL');
    expect(await child.ended).toMatchObject({ kind: 'lost', reason: expect.stringContaining('SIGKILL') });
    await untilGone(child.pid);
    const next = run(starter, 'true');
    expect(await next.ended).toEqual({ kind: 'exited', code: 0 });
    expect(starter.pid()).not.toBe(helper);
  });

  it('ends when that process hangs, and the next begins another', async () => {
    const starter = createStarter(1_000);
    const child = run(starter, 'sleep', '100');
    await vi.waitUntil(() => child.pid !== undefined, { timeout: 20_000 });
    const helper = starter.pid();
    process.kill(helper ?? 0, 'SIGSTOP');
    child.kill('SIGKILL');
    expect(await child.ended).toMatchObject({ kind: 'lost' });
    await untilGone(child.pid);
    expect(await run(starter, 'true').ended).toEqual({ kind: 'exited', code: 0 });
    expect(starter.pid()).not.toBe(helper);
  });
});

describe('the process that starts git', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'gatehouse-starter-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  function program(...lines: readonly string[]) {
    const script = [
      `import { createStarter } from ${JSON.stringify(MODULE)};`,
      'const starter = createStarter();',
      "const run = (file, ...args) => starter.start({ file, args, cwd: '/', env: { PATH: process.env.PATH } });",
      ...lines,
    ];
    return spawn(process.execPath, ['--input-type=module', '-e', script.join('\n')], {
      env: { PATH: process.env.PATH, TMPDIR: folder },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  }

  it('keeps the service from ending only while git runs, and leaves nothing behind', async () => {
    const parent = program(
      "const git = run('echo', 'done');",
      'git.stdout.pipe(process.stdout);',
      'await git.ended;',
      'console.log(starter.pid());',
    );
    const [said, pid] = (await text(parent.stdout)).split('\n');
    expect(said).toBe('done');
    await untilGone(Number(pid));
    expect(await readdir(folder)).toEqual([]);
  });

  it('ends when the service is killed, and lets git finish', async () => {
    const parent = program(
      "const git = run('sleep', '1000');",
      'while (git.pid === undefined) await new Promise(resolve => setImmediate(resolve));',
      'console.log(starter.pid(), git.pid);',
    );
    const [line] = await once(parent.stdout, 'data');
    const [helper = 0, git = 0] = String(line).trim().split(' ').map(Number);
    expect(readlinkSync(`/proc/${git}/exe`)).toContain('sleep');
    parent.kill('SIGKILL');
    await untilGone(helper);
    expect(await readdir(folder)).toEqual([]);
    process.kill(git, 'SIGKILL');
    await untilGone(git);
  });
});
