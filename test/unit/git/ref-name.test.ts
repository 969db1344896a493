import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isRefName, parseRefName, refNameProblem } from '../../../src/git/objects/ref-name.ts';
import { runGit } from '../../fake/git-repository.ts';

describe('a ref name', () => {
  it.each([
    'refs/heads/main',
    'refs/pull/7/head',
    'refs/heads/fix;rm -rf'.replace(' -rf', ''),
    'refs/heads/$(id)',
    'refs/heads/-x',
    'refs/heads/ä',
    'refs/heads/@',
  ])('is accepted: %s', name => {
    expect(refNameProblem(name)).toBeUndefined();
  });

  it.each([
    ['-x', 'begin'],
    ['--upload-pack=touch /tmp/x', 'begin'],
    ['main', 'begin'],
    ['', 'begin'],
    ['refs/heads/a b', 'blank'],
    ['refs/heads/a\nb', 'control'],
    ['refs/heads/a\u0000b', 'control'],
    ['refs/heads/\u001b[31m', 'control'],
    ['refs/heads/a:refs/heads/b', 'holds one of'],
    ['refs/heads/*', 'holds one of'],
    ['refs/heads/a..b', '".."'],
    ['refs/heads/a@{1}', '"@{"'],
    ['refs/heads//a', 'empty part'],
    ['refs/heads/a/', 'empty part'],
    ['refs/heads/.a', 'begins with a dot'],
    ['refs/heads/a.lock', '".lock"'],
    ['refs/heads/a.lock/b', '".lock"'],
    ['refs/heads/a.', 'dot'],
    [`refs/heads/${'x'.repeat(2000)}`, 'longer'],
    ['refs/heads/\ud800', 'well-formed'],
  ])('is refused with the reason: %j', (name, reason) => {
    expect(refNameProblem(name)).toContain(reason);
    expect(() => parseRefName(name)).toThrow(RangeError);
  });

  it('is judged as git check-ref-format judges it', async () => {
    const piece = fc.constantFrom(
      'a',
      'B',
      '.',
      '..',
      '/',
      '-',
      '@',
      '{',
      '@{',
      '~',
      ':',
      '*',
      '?',
      '[',
      '\\',
      ' ',
      '.lock',
      'ä',
      ';',
      '$',
      '\u007f',
      '\t',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 6 }), async pieces => {
        const name = `refs/heads/${pieces.join('')}`;
        const accepted = await runGit('/', ['check-ref-format', name]).then(
          () => true,
          () => false,
        );
        expect(isRefName(name)).toBe(accepted);
      }),
      { numRuns: 150, seed: 7 },
    );
  });
});
