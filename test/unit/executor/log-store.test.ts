/** What a job leaves in its log directory, from the real directory to what readers get. */
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { fetchKeptFile, fetchKeptFiles } from '../../../src/executor/log-client.ts';
import { completeMarkOf, logPathOf } from '../../../src/executor/log-file.ts';
import { startLogServer } from '../../../src/executor/log-server.ts';
import { collectFiles, type LeftFiles } from '../../../src/executor/log-store/collect-files.ts';
import { openKept, readKeptFiles } from '../../../src/executor/log-store/kept-files.ts';
import { syncFiles } from '../../../src/executor/log-store/sync-files.ts';
import { pruneLogs } from '../../../src/executor/prune-logs.ts';
import { derivedUuid } from '../../../src/lib/ids.ts';
import { Secret } from '../../../src/lib/secret.ts';
import { SILENT } from '../../fake/silent-log.ts';

let directory: string;
let logs: string;
let logDir: string;
let lines: string[];
const BUILD = derivedUuid('one');

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'gatehouse-log-store-'));
  logs = join(directory, 'work/logs');
  logDir = join(directory, 'kept');
  lines = [];
  await mkdir(logs, { recursive: true });
  await mkdir(join(directory, 'info'));
});
afterEach(() => rm(directory, { recursive: true }));

const write = async (path: string, text: string) => {
  await mkdir(join(logs, path, '..'), { recursive: true });
  await writeFile(join(logs, path), text);
};

async function collect(build = BUILD, more: Partial<LeftFiles> = {}): Promise<void> {
  await mkdir(join(logDir, build), { recursive: true });
  await collectFiles({
    ...{ logDir, build, masks: [], mostBytes: 1_000_000, variables: 'variables.json' },
    places: { logs, info: join(directory, 'info') },
    signal: new AbortController().signal,
    log: { line: async text => void lines.push(text) },
    ...more,
  });
}

test('contents are on the disk before the list is, and the list before the build is reported', async () => {
  await write('a.txt', 'one');
  await write('b.txt', 'one');
  const synced: (readonly [path: string, listed: boolean])[] = [];
  const isListed = async () => (await readKeptFiles(logDir, BUILD)) !== undefined;
  await collect(BUILD, {
    async sync(paths) {
      for (const path of paths) synced.push([path.slice(logDir.length + BUILD.length + 2), await isListed()]);
      await syncFiles(paths);
    },
  });
  expect(synced).toEqual([
    [expect.stringMatching(/^files\/[0-9a-f]{64}\.gz$/), false],
    ['files', false],
    ['files.json.part', false],
    ['', true],
  ]);
});

/** Texts by path. */
async function kept(build = BUILD): Promise<Record<string, string> | undefined> {
  const found = await readKeptFiles(logDir, build);
  if (found === undefined) return undefined;
  const texts: Record<string, string> = {};
  for (const { path, sha256, bytes } of found.files) {
    const content = await openKept(logDir, build, sha256);
    const text = gunzipSync(await buffer(content ?? expect.unreachable()));
    expect(text).toHaveLength(bytes);
    texts[path] = text.toString();
  }
  return texts;
}

test('plain files are kept with their paths; what leads out of the directory, or is none, is left out and counted', async () => {
  await write('report.html', '<b>all green</b>');
  await write('deep/er/größe.txt', 'deep');
  await write('job-output.txt', 'not the log');
  await writeFile(join(directory, 'outside'), 'of the host');
  await symlink(join(directory, 'outside'), join(logs, 'link'));
  await symlink(directory, join(logs, 'up'));
  execFileSync('mkfifo', [join(logs, 'pipe')]);
  await write('odd\u001b[31mname', 'x');
  await collect();
  expect(await kept()).toEqual({ 'deep/er/größe.txt': 'deep', 'report.html': '<b>all green</b>' });
  expect(lines).toEqual([expect.stringMatching(/^of ZUUL_LOG_DIR 5 entries are not kept/)]);
  expect((await readdir(join(logDir, BUILD, 'files'))).filter(name => name.startsWith('.'))).toEqual([]);
});

test('the inventory of the build is among them, unless the job left one', async () => {
  const variables = { zuul: { build: BUILD }, vars: { level: 1 }, nodes: { web: { ansible_host: 'x' } } };
  await writeFile(join(directory, 'info/variables.json'), JSON.stringify(variables));
  await collect();
  const [text = ''] = Object.values((await kept()) ?? {});
  expect(JSON.parse(text)).toEqual({
    all: { hosts: { web: { ansible_host: 'x' } }, vars: { level: 1, zuul: { build: BUILD } } },
  });
  await write('zuul-info/inventory.yaml', 'own: true\n');
  await collect(derivedUuid('two'));
  expect(await kept(derivedUuid('two'))).toEqual({ 'zuul-info/inventory.yaml': 'own: true\n' });
});

test('a build that left nothing has no list', async () => {
  await collect();
  expect(await kept()).toBeUndefined();
});

test('files for which there is no room are left out, smaller ones after them are not', async () => {
  await write('a.txt', 'a'.repeat(60));
  await write('b.txt', 'b'.repeat(60));
  await write('c.txt', 'c'.repeat(40));
  await collect(BUILD, { mostBytes: 100 });
  expect(Object.keys((await kept()) ?? {})).toEqual(['a.txt', 'c.txt']);
  expect(lines).toEqual([expect.stringMatching(/1 entry is not kept/)]);
});

test('secrets are masked, also where a read ends within one', async () => {
  const secret = 'kanarienvogel-4712';
  const text = `${'x'.repeat(65_536 - 7)}${secret} and ${secret}\n`;
  await write('out.txt', text);
  await collect(BUILD, { masks: [secret] });
  expect((await kept())?.['out.txt']).toBe(`${'x'.repeat(65_536 - 7)}*** and ***\n`);
});

test('builds that leave the same share it, and pruning removes what no build has any more', async () => {
  await write('same.txt', 'the same');
  const builds = [derivedUuid('old'), derivedUuid('young')];
  for (const [index, build] of builds.entries()) {
    await collect(build);
    const log = logPathOf(logDir, build);
    await writeFile(log, '');
    await writeFile(completeMarkOf(log), '');
    const ended = new Date(Date.UTC(2026, 0, 1 + 30 * index));
    await utimes(completeMarkOf(log), ended, ended);
  }
  const blobs = async () => {
    const names = await readdir(join(logDir, '.blobs'), { recursive: true });
    const paths = names.filter(name => name.endsWith('.gz')).map(name => join(logDir, '.blobs', name));
    return Promise.all(paths.map(async path => (await stat(path)).nlink));
  };
  expect(await blobs()).toEqual([3]);
  expect(await pruned(Date.UTC(2026, 0, 20))).toBe(1);
  expect(await blobs()).toEqual([2]);
  expect(await kept(derivedUuid('young'))).toEqual({ 'same.txt': 'the same' });
  expect(await pruned(Date.UTC(2027, 0, 1))).toBe(1);
  expect(await blobs()).toEqual([]);
});

/** @returns how many were. */
async function pruned(now: number): Promise<number> {
  const stop = new AbortController();
  let count = 0;
  const log = { ...SILENT, info: () => stop.abort() };
  await pruneLogs({ logDir, keep: 86_400, now: () => now, log, onPruned: () => count++ }, stop.signal);
  return count;
}

test('other machines read them with the token of the build', async () => {
  await write('a.txt', 'from afar');
  await collect();
  const secret = new Secret('log token');
  await using server = await startLogServer({
    ...{ logDir, listenAddress: '127.0.0.1', port: 0, host: 'ci1', secret, log: SILENT },
  });
  const place = { address: server.address, secret };
  const signal = AbortSignal.timeout(30_000);
  const [file] = (await fetchKeptFiles(place, BUILD, signal))?.files ?? [];
  expect(file).toMatchObject({ path: 'a.txt', bytes: 9 });
  const content = await fetchKeptFile(place, BUILD, file?.sha256 ?? '', signal);
  expect(gunzipSync(await buffer(content ?? expect.unreachable())).toString()).toBe('from afar');
  expect(await fetchKeptFile(place, BUILD, 'f'.repeat(64), signal)).toBeUndefined();
  expect(await fetchKeptFiles(place, derivedUuid('none'), signal)).toBeUndefined();
  await expect(fetchKeptFiles({ ...place, secret: undefined }, BUILD, signal)).rejects.toThrow('401');
  expect((await fetch(`${server.address}/logs/${BUILD}/files/..%2f..%2fa`)).status).toBe(404);
  expect(await readFile(join(logDir, BUILD, 'files.json'), 'utf8')).toContain('"a.txt"');
});
