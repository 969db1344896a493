/** One `job_dir`, several executors: each has a place of its own, and the place of a dead one is taken over by one. */
import { spawn } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { claimJobDir } from '../../../src/executor/claim-job-dir.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gatehouse-seats-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const second = () => join(folder, '.executors', '2');
const dead = JSON.stringify({ pid: process.pid, started: 'another boot/1' });

describe('a directory for builds', () => {
  it('is the job_dir itself for the first, one below it for the others, and free again when given back', async () => {
    const one = await claimJobDir(folder);
    const two = await claimJobDir(folder);
    expect([one.path, two.path]).toEqual([folder, second()]);
    await one.release();
    const three = await claimJobDir(folder);
    expect(three.path).toBe(folder);
    await three.release();
    await two.release();
  });

  it('of a dead process is taken over by exactly one of many', async () => {
    await writeFile(join(folder, '.owner-7'), dead);
    const claimed = await Promise.all(Array.from({ length: 8 }, () => claimJobDir(folder)));
    expect(new Set(claimed.map(({ path }) => path)).size).toBe(8);
    expect((await readdir(folder)).filter(name => name.startsWith('.owner-'))).toEqual(['.owner-8']);
    for (const each of claimed) await each.release();
  });

  it('is never given twice, however many claim and release it at the same time', async () => {
    const held = new Set<string>();
    async function claimAndRelease(): Promise<void> {
      for (let round = 0; round < 15; round += 1) {
        const { path, release } = await claimJobDir(folder);
        expect(held.has(path)).toBe(false);
        held.add(path);
        await new Promise(setImmediate);
        held.delete(path);
        await release();
      }
    }
    await Promise.all(Array.from({ length: 6 }, claimAndRelease));
    expect((await claimJobDir(folder)).path).toBe(folder);
  });

  it('is taken over after kill -9 of its owner, not before', async () => {
    const module = new URL('../../../src/executor/claim-job-dir.ts', import.meta.url).href;
    const code = `const { claimJobDir } = await import(${JSON.stringify(module)}); console.log((await claimJobDir(${JSON.stringify(folder)})).path); setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = new Promise(resolve => child.once('close', resolve));
    try {
      const said = await new Promise<string>(resolve =>
        child.stdout.once('data', data => resolve(String(data))),
      );
      expect(said.trim()).toBe(folder);
      expect((await claimJobDir(folder)).path).toBe(second());
    } finally {
      child.kill('SIGKILL');
    }
    await ended;
    expect((await claimJobDir(folder)).path).toBe(folder);
  });
});
