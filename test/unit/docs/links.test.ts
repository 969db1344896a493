/** Links between the Markdown files lead somewhere, down to the heading; paths of sources they name exist. */
import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { filesBelow, ROOT, textOf } from './repository-text.ts';

const DOCUMENTS = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', ...filesBelow('doc', '.md')];

/** Without code blocks, where brackets mean something else. */
function prose(file: string): string {
  return textOf(file).replaceAll(/^```.*?^```/gms, '');
}

/** GitHub's anchor of a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
}

function anchorsOf(file: string): ReadonlySet<string> {
  return new Set([...prose(file).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading)));
}

interface Link {
  readonly from: string;
  readonly to: string;
}

function linksOf(file: string): readonly Link[] {
  return [...prose(file).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, to = '']) => ({ from: file, to }))
    .filter(({ to }) => !/^[a-z]+:/.test(to));
}

describe('the documentation', () => {
  const links = DOCUMENTS.flatMap(linksOf);

  test('has links to check', () => {
    expect(links.length).toBeGreaterThan(30);
  });

  test('links to files that exist', () => {
    const broken = links.filter(({ from, to }) => {
      const [file = ''] = to.split('#');
      return file !== '' && !existsSync(path.join(ROOT, path.dirname(from), file));
    });
    expect(broken).toEqual([]);
  });

  test('has pictures that load at once', () => {
    const pictures = links.filter(({ to }) => to.endsWith('.png'));
    expect(pictures.length).toBeGreaterThan(0);
    for (const { from, to } of pictures)
      expect(statSync(path.join(ROOT, path.dirname(from), to)).size).toBeLessThan(150_000);
  });

  test('is all reached from doc/README.md', () => {
    const named = new Set(linksOf('doc/README.md').map(({ to }) => path.join('doc', to.split('#')[0] ?? '')));
    const pages = filesBelow('doc', '.md').filter(file => !/^doc\/(decisions\/|README)/.test(file));
    expect(pages.filter(page => !named.has(page))).toEqual([]);
  });

  test('links to headings that exist', () => {
    const broken = links.filter(({ from, to }) => {
      const [file = '', anchor] = to.split('#');
      if (anchor === undefined) return false;
      const target = file === '' ? from : path.join(path.dirname(from), file);
      return target.endsWith('.md') && existsSync(path.join(ROOT, target)) && !anchorsOf(target).has(anchor);
    });
    expect(broken).toEqual([]);
  });

  test('names sources that exist', () => {
    const named = DOCUMENTS.flatMap(file =>
      [...prose(file).matchAll(/`((?:src|drivers|etc|scripts|test|bin)\/[\w./-]+\.\w+)`/g)].map(
        ([, to = '']) => ({ from: file, to }),
      ),
    );
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter(({ to }) => !existsSync(path.join(ROOT, to)))).toEqual([]);
  });

  test('gives every decision a number of its own, the one in its title', () => {
    const files = filesBelow('doc/decisions', '.md');
    const numbers = files.map(file => path.basename(file).slice(0, 4));
    expect(new Set(numbers).size).toBe(numbers.length);
    expect(files.map(file => /^# (\d{4}): /.exec(textOf(file))?.[1])).toEqual(numbers);
  });
});
