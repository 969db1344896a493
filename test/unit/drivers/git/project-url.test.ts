import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { projectUrl } from '../../../../drivers/git/project-url.ts';

describe('the place of a project', () => {
  test.each([
    ['https://git.example.org', 'https://git.example.org/acme/app'],
    ['https://git.example.org/', 'https://git.example.org/acme/app'],
    ['https://git.example.org/{project}.git', 'https://git.example.org/acme/app.git'],
    ['git@git.example.org:work', 'git@git.example.org:work/acme/app'],
  ])('below %s is %s', (baseurl, url) => {
    expect(projectUrl(baseurl, 'acme/app')).toBe(url);
  });

  test('in a directory is whichever of app and app.git exists', async () => {
    const base = await mkdtemp(join(tmpdir(), 'gatehouse-url-'));
    try {
      await mkdir(join(base, 'bare.git'));
      await mkdir(join(base, 'work'));
      await mkdir(join(base, 'work.git'));
      expect(projectUrl(base, 'bare')).toBe(join(base, 'bare.git'));
      expect(projectUrl(base, 'work')).toBe(join(base, 'work'));
      expect(projectUrl(`file://${base}`, 'bare')).toBe(`file://${base}/bare.git`);
      expect(projectUrl(base, 'none')).toBe(join(base, 'none'));
    } finally {
      await rm(base, { recursive: true });
    }
  });

  test.each(['../etc', 'a/../b', 'a//b', '/a', 'a/', '-x', 'a/-x', '.git', 'a b', 'a?b', 'a#b', 'a@b', ''])(
    'is refused for %j',
    name => {
      expect(() => projectUrl('/srv/git', name)).toThrow(RangeError);
    },
  );
});
