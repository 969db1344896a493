/** What earlier runs left compiled. */
import { mkdir, mkdtempDisposable, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { compileCache } from '../../setup/compile-cache.ts';

test('the compiled modules of today and yesterday are kept, all older ones removed', async () => {
  await using folder = await mkdtempDisposable(path.join(tmpdir(), 'gatehouse-compiled-'));
  for (const name of ['2026-11-29', '2026-11-30', 'v24.21.0-x64']) {
    await mkdir(path.join(folder.path, name));
    await writeFile(path.join(folder.path, name, 'a'), '');
  }
  const today = await compileCache(folder.path, new Date('2026-12-01T00:30:00Z'));
  expect(today).toBe(path.join(folder.path, '2026-12-01'));
  expect((await readdir(folder.path)).toSorted()).toEqual(['2026-11-30', '2026-12-01']);
  expect(await readdir(path.join(folder.path, '2026-11-30'))).toEqual(['a']);
});
