import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { meaningOfRefusal } from '../../../src/git/process/failure-table.ts';
import { createGit, type Git } from '../../../src/git/process/git.ts';
import { type StartProcess, startHere } from '../../../src/git/process/git-process.ts';
import { remoteUrlProblem } from '../../../src/git/process/remote.ts';
import { oneLine, remoteFailure } from '../../../src/git/process/remote-failure.ts';
import { sshEnvironment } from '../../../src/git/process/ssh.ts';
import { startAside } from '../../../src/git/starter/start-aside.ts';
import { IDENTITY } from './open-repository.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gatehouse-run-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** A stand-in for git that is a shell script. */
async function script(text: string, start: StartProcess, timeoutMs = 20_000): Promise<Git> {
  const program = join(folder, 'git');
  await writeFile(program, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  return createGit({ identity: IDENTITY, program, start, timeoutMs, graceMs: 300 });
}

async function isGone(pid: number): Promise<void> {
  // One whose parent was killed is a zombie for as long as the first process of the system leaves it: it is gone.
  await vi.waitUntil(() => !existsSync(`/proc/${pid}/exe`), { timeout: 10_000 });
}

describe.each([
  ['as a child', startHere],
  ['from a process of its own', startAside],
])('running git %s', (_, start) => {
  it('returns output, or exit code and stderr', async () => {
    const git = createGit({ identity: IDENTITY, start });
    const good = await git.run(['version']);
    expect(good.kind === 'ok' && good.stdout.toString()).toMatch(/^git version 2\./);
    const bad = await git.run(['no-such-command']);
    expect(bad).toMatchObject({
      kind: 'failed',
      exitCode: 1,
      stderr: expect.stringContaining('no-such-command'),
    });
    expect(git.spawns()).toBe(2);
  });

  it('kills the whole process group at the deadline', async () => {
    const git = await script(`sleep 100 & echo $! > ${folder}/child; wait`, start, 1_500);
    expect(await git.run([])).toEqual({ kind: 'timeout', seconds: 1.5 });
    await isGone(Number(await readFile(join(folder, 'child'), 'utf8')));
  });

  it('kills a process that ignores SIGTERM', async () => {
    const git = await script(
      `trap '' TERM; echo $$ > ${folder}/pid; while :; do sleep 0.1; done`,
      start,
      1_500,
    );
    expect((await git.run([])).kind).toBe('timeout');
    await isGone(Number(await readFile(join(folder, 'pid'), 'utf8')));
  });

  it('stops output without end', async () => {
    const git = await script('exec yes', start);
    expect(await git.run([], { maxOutput: 10_000 })).toEqual({
      kind: 'too-much-output',
      limit: 10_000,
    });
  });

  it('gives up when its caller does', async () => {
    const git = await script('exec sleep 100', start);
    const controller = new AbortController();
    const running = git.run([], { signal: controller.signal });
    controller.abort();
    expect(await running).toEqual({ kind: 'aborted' });
    expect(await git.run([], { signal: controller.signal })).toEqual({ kind: 'aborted' });
  });

  it('survives a git that does not read its input', async () => {
    const git = await script('exit 5', start);
    expect(await git.run([], { input: 'x'.repeat(1_000_000) })).toMatchObject({
      kind: 'failed',
      exitCode: 5,
    });
  });

  it('passes nothing of our environment on that is not allowed', async () => {
    vi.stubEnv('GATEHOUSE_SECRET', 'hunter2');
    vi.stubEnv('GIT_CONFIG_PARAMETERS', "'core.sshCommand=touch /tmp/x'");
    vi.stubEnv('GIT_DIR', '/somewhere');
    vi.stubEnv('LD_PRELOAD', '');
    const git = await script('exec env', start);
    const result = await git.run([]);
    vi.unstubAllEnvs();
    const names =
      result.kind === 'ok'
        ? result.stdout
            .toString()
            .split('\n')
            .map(line => line.split('=')[0])
        : [];
    expect(names).toContain('GIT_TERMINAL_PROMPT');
    for (const name of ['GATEHOUSE_SECRET', 'GIT_CONFIG_PARAMETERS', 'GIT_DIR', 'LD_PRELOAD'])
      expect(names).not.toContain(name);
  });

  it('hands credentials over in the environment, never in arguments', async () => {
    const git = await script(`env; echo "ARGS $*"; tr '\\0' ' ' < /proc/$$/cmdline`, start);
    const remote = {
      url: 'https://host/x',
      headers: ['Authorization: Basic c2VjcmV0'],
      environment: {
        GIT_TRACE: '0',
        ...sshEnvironment({ keyFile: "/keys/o'brien", knownHostsFile: '/keys/known hosts' }),
      },
    };
    const result = await git.run(['fetch'], { remote });
    if (result.kind !== 'ok') throw new Error(JSON.stringify(result));
    const output = result.stdout.toString();
    expect(output).toMatch(/GIT_CONFIG_KEY_\d+=http.extraHeader/);
    expect(output).toMatch(/GIT_CONFIG_VALUE_\d+=Authorization: Basic c2VjcmV0/);
    expect(output).toContain(`-i '/keys/o'\\''brien' -o UserKnownHostsFile='/keys/known hosts'`);
    expect(output.slice(output.indexOf('ARGS'))).not.toContain('c2VjcmV0');
    expect(() => git.run(['fetch'], { remote: { url: 'x', headers: ['A: b\nC: d'] } })).toThrow('line break');
  });
});

describe('a message for people', () => {
  it('is the most informative line, without control characters and passwords', () => {
    const stderr =
      "hint: do this\nremote: \u001b[31mNo\u001b[0m\nfatal: unable to access 'https://me:pw@host/x/': Failed\u0007 to connect\nmore";
    expect(oneLine(stderr)).toBe("unable to access 'https://***@host/x/': Failed to connect");
    expect(oneLine('x'.repeat(5000))).toHaveLength(300);
    expect(oneLine('')).toBe('');
  });

  it("names no path of the remote's disk", () => {
    const said =
      "error: cannot lock ref 'refs/heads/main': Unable to create '/srv/git/org/app.git/./refs/heads/main.lock': File exists.";
    expect(oneLine(said)).toBe(
      "cannot lock ref 'refs/heads/main': Unable to create '…/main.lock': File exists.",
    );
    expect(oneLine("fatal: unable to access 'https://host/org/x/': no")).toContain('https://host/org/x/');
  });
});

describe('what a failure says about what was asked', () => {
  it.each([
    ["fatal: unable to access 'https://h/': Could not resolve host: h", 'unreachable'],
    ["fatal: unable to access 'https://h/': SSL certificate problem: certificate has expired", 'unreachable'],
    ['git@h: Permission denied (publickey).\nfatal: Could not read from remote repository.', 'denied'],
    ['Host key verification failed.\nfatal: Could not read from remote repository.', 'denied'],
    ["fatal: could not read Username for 'https://h': terminal prompts disabled", 'denied'],
    ["fatal: transport 'ext' not allowed", 'bad-url'],
    ['ssh: connect to host h port 22: Connection timed out', 'timeout'],
    ["fatal: unable to access 'https://h/': The requested URL returned error: 503", 'unreachable'],
    ["fatal: unable to access 'https://h/': The requested URL returned error: 403", 'limited'],
    ["fatal: unable to access 'https://h/': The requested URL returned error: 429", 'limited'],
    [
      'error: RPC failed; curl 92 HTTP/2 stream 5 was not closed cleanly\nfatal: early EOF\nfatal: index-pack failed',
      'unreachable',
    ],
    ['fatal: No space left on device', 'other'],
    ['fatal: an unknown message', 'other'],
  ])('is nothing when it is the host: %s', (stderr, reason) => {
    expect(remoteFailure({ kind: 'failed', exitCode: 128, stdout: Buffer.alloc(0), stderr })).toMatchObject({
      reason,
      nature: 'host',
    });
  });

  it('is for a fresh look to decide when a ref is not there', () => {
    const stderr = "fatal: couldn't find remote ref refs/heads/x";
    expect(remoteFailure({ kind: 'failed', exitCode: 128, stdout: Buffer.alloc(0), stderr })).toMatchObject({
      reason: 'missing-ref',
      nature: 'gone-ref',
    });
  });

  it.each([
    ['pre-receive hook declined', 'policy'],
    ['protected branch hook declined', 'policy'],
    ['refusing to update checked out branch: refs/heads/main', 'policy'],
    ['prohibited by Gerrit: not permitted: update', 'policy'],
    ['fatal: fsck error in packed object\nunpacker error', 'content'],
    ["error: cannot lock ref 'refs/heads/main': Unable to create '…/main.lock': File exists.", 'host'],
    ['atomic transaction failed', 'host'],
    ['GitLab: Internal API unreachable\npre-receive hook declined', 'host'],
    ['fatal: write error: No space left on device\nunpacker error', 'host'],
    ['internal server error', 'host'],
  ] as const)('of a push the remote did not take: %s is %s', (said, nature) => {
    expect(meaningOfRefusal(said).nature).toBe(nature);
  });
});

describe('a remote URL', () => {
  it.each([
    'https://host/a',
    'http://host/a',
    'ssh://u@host:29418/a',
    'git://host/a',
    'git@host:a/b',
    'host:a',
    '/srv/git/a.git',
    'file:///srv/a',
  ])('is accepted: %s', url => {
    expect(remoteUrlProblem(url)).toBeUndefined();
  });
  it.each([
    'ext::sh -c x',
    'fd::3',
    '-oProxyCommand=x',
    'ssh://-oProxyCommand=x/a',
    '--upload-pack=x',
    'a/b',
    '',
    'foo://x/y',
    'https://h/\u0000',
  ])('is refused: %j', url => {
    expect(remoteUrlProblem(url)).toBeDefined();
  });
  it('is refused when its protocol is switched off', () => {
    expect(remoteUrlProblem('file:///srv/a', ['https', 'ssh'])).toBe(
      'the protocol file is not allowed (allowed: https, ssh)',
    );
  });
});
