import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileRegex, type Regex } from '../../../src/lib/regex.ts';
import { processorTime } from '../../fake/processor-time.ts';

function compile(source: string): Regex {
  const compiled = compileRegex(source);
  if (compiled.kind === 'invalid') throw new Error(compiled.reason);
  return compiled;
}

describe('anchoring', () => {
  it.each([
    // expression, text, test, search, testAll
    ['stable', 'stable/1', true, true, false],
    ['stable', 'unstable', false, true, false],
    ['stable$', 'stable/1', false, false, false],
    ['a|b', 'cb', false, true, false],
    ['a|ab', 'ab', true, true, true],
    ['^docs/.*$', 'docs/x', true, true, true],
    ['(?i)recheck', 'Recheck', true, true, true],
    ['(?m)^b', 'a\nb', false, true, false],
    ['', 'x', true, true, false],
    ['.*\\.md', 'a/b.md.txt', true, true, false],
    // Everything behind \Q is text, up to \E or the end.
    ['\\Qa(b', 'a(b)', true, true, false],
    ['^(?!refs/).*$', 'master', true, true, true],
    ['^(?!refs/).*$', 'refs/tags/1', false, false, false],
    ['^(?!master$).*', 'master', false, false, false],
    ['^(?!master$).*', 'master2', true, true, true],
    ['^(?!a|b)(?![)c])\\w', 'a1', false, false, false],
    ['^(?!a|b)(?![)c])\\w', 'c1', false, false, false],
    ['^(?!a|b)(?![)c])\\w', 'd1', true, true, false],
    ['^(?!a(b)?\\))x?', 'ab)', false, false, false],
    ['^(?!x)', 'y', true, true, false],
    ['(?!x)', 'y', true, true, false],
    ['(?!x)', 'x', false, true, false],
    ['(?!x).', 'xy', false, true, false],
    ['(?!x).', 'x', false, false, false],
    ['^stable/(?!1|2).*', 'stable/1', false, false, false],
    ['^stable/(?!1|2).*', 'stable/3', true, true, true],
    ['^stable/(?!1|2).*', 'x/stable/3', false, false, false],
    ['v1\\.(?!0$)', 'v1.0', false, false, false],
    ['v1\\.(?!0$)', 'x v1.02', false, true, false],
    ['v1\\.(?!0$)', 'v1x02', false, false, false],
    ['aa(?!b)a', 'aabaaa', false, true, false],
  ])('%s on %j', (source, text, test, search, testAll) => {
    const regex = compile(source);
    expect([regex.test(text), regex.search(text), regex.testAll(text)]).toEqual([test, search, testAll]);
  });
});

describe('refusals', () => {
  it.each([
    [
      '.*(?!x)y',
      'invalid regular expression ".*(?!x)y": lookaround is not supported by RE2, but as (?!…) behind a fixed beginning; match the opposite and use negate: true',
    ],
    [
      '^(?!a)b|c',
      'invalid regular expression "^(?!a)b|c": lookaround is not supported by RE2, but as (?!…) behind a fixed beginning; match the opposite and use negate: true',
    ],
    [
      '^(?!a(?!b))c',
      'invalid regular expression "^(?!a(?!b))c": lookaround is not supported by RE2, but as (?!…) behind a fixed beginning; match the opposite and use negate: true',
    ],
    [
      'a(?!\\bb)c',
      'invalid regular expression "a(?!\\bb)c": lookaround is not supported by RE2, but as (?!…) behind a fixed beginning; match the opposite and use negate: true',
    ],
    [
      '(?<!x)y',
      'invalid regular expression "(?<!x)y": lookaround is not supported by RE2; match the opposite and use negate: true',
    ],
    [
      '(?=x)y',
      'invalid regular expression "(?=x)y": lookaround is not supported by RE2; write the text itself, or use negate: true',
    ],
    ['(a)\\1', 'invalid regular expression "(a)\\1": backreferences are not supported by RE2'],
    [
      '(?P<n>a)(?P=n)',
      'invalid regular expression "(?P<n>a)(?P=n)": backreferences are not supported by RE2',
    ],
    [
      '(?>a)',
      'invalid regular expression "(?>a)": atomic groups and possessive quantifiers are not supported by RE2; a plain group never backtracks',
    ],
    [
      'a++',
      'invalid regular expression "a++": atomic groups and possessive quantifiers are not supported by RE2; a plain group never backtracks',
    ],
    ['a\\Z', 'invalid regular expression "a\\Z": RE2 writes \\z for the end of the text'],
    ['(a', 'invalid regular expression "(a": missing closing ) at "(a"'],
    ['a)(b', 'invalid regular expression "a)(b": unexpected ) at "a)(b"'],
    ['*.py', 'invalid regular expression "*.py": missing argument to repetition operator at "*"'],
    ['\\', 'invalid regular expression "\\": trailing backslash at end of expression'],
    ['a{600}b{401}', 'invalid regular expression "a{600}b{401}": more than 1000 repetitions by {n}'],
    ['(a{600}){2}', 'invalid regular expression "(a{600}){2}": invalid repeat count at "{2}"'],
    ['a'.repeat(1001), 'regular expression is longer than 1000 characters'],
  ])('%s', (source, reason) => {
    expect(compileRegex(source)).toEqual({ kind: 'invalid', reason });
  });
});

describe('any input', () => {
  it('is answered, never thrown at', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.stringMatching(/^[a-cQE()[\]*+?|.\\^$1-3{}]{0,12}$/)),
        fc.string(),
        (source, text) => {
          const compiled = compileRegex(source);
          if (compiled.kind === 'regex') expect(typeof compiled.test(text)).toBe('boolean');
          else expect(compiled.reason).not.toContain('\n\n');
        },
      ),
    );
  });

  it('throws at no text that is compiled only when it is tried', () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^\^?(?:[a-c_/ @:,=<>~.-]|\\[./+*?$^|()[\]{}-]|[*+?$])*$/),
        fc.string(),
        (source, text) => {
          const compiled = compileRegex(source);
          if (compiled.kind === 'regex') expect(compiled.test(text) && !compiled.search(text)).toBe(false);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('is searched as by an expression with lookaheads', () => {
    const texts = fc.stringMatching(/^[ab.]{0,8}$/);
    fc.assert(
      fc.property(
        fc.constantFrom('', 'a', 'ab', '^', '^a'),
        texts,
        fc.constantFrom('', 'b', '.', 'a$'),
        texts,
        (beginning, exception, rest, text) => {
          const source = `${beginning}(?!${exception}a)${rest}`;
          const own = compile(source);
          const anchored = new RegExp(`^(?:${source})`);
          expect([own.test(text), own.search(text)]).toEqual([
            anchored.test(text),
            new RegExp(source).test(text),
          ]);
        },
      ),
    );
  });

  it('takes linear time where lookaheads are searched, too', () => {
    const regex = compile('(?!x)a.*b$');
    const cost = processorTime(() => expect(regex.search('a'.repeat(60_000))).toBe(false));
    expect(cost).toBeLessThan(2_000);
  });

  it('takes linear time', () => {
    const cost = processorTime(() => expect(compile('^(a+)+$').test(`${'a'.repeat(20_000)}b`)).toBe(false));
    expect(cost).toBeLessThan(1_000);
  });
});
