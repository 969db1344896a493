import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type BranchTemplate,
  parseBranchTemplate,
  templateClash,
} from '../../../../drivers/git/branch-template.ts';

function template(source: string): BranchTemplate {
  const parsed = parseBranchTemplate(source);
  if (parsed.kind === 'invalid') throw new Error(parsed.reason);
  return parsed.template;
}

describe('a branch template', () => {
  test('gives the branch all slashes and the topic none', () => {
    expect(template('for/{branch}/{topic}').match('for/stable/1.0/login')).toEqual({
      branch: 'stable/1.0',
      topic: 'login',
    });
  });

  test('may name the topic first', () => {
    expect(template('wip/{topic}/to/{branch}').match('wip/login/to/stable/1.0')).toEqual({
      branch: 'stable/1.0',
      topic: 'login',
    });
  });

  test.each(['master', 'for/master', 'for/', 'fort/master/login', 'x/for/master/login'])(
    'does not match %s',
    name => {
      expect(template('for/{branch}/{topic}').match(name)).toBeUndefined();
    },
  );

  test('takes its own text literally', () => {
    expect(template('f.r/{branch}/{topic}').match('for/master/login')).toBeUndefined();
    expect(template('a+b/{branch}/({topic})').match('a+b/master/(login)')).toEqual({
      branch: 'master',
      topic: 'login',
    });
  });

  test.each([
    ['for/{branch}', 'once each'],
    ['for/{branch}/{topic}/{topic}', 'once each'],
    ['for/{branch}/{user}', 'once each'],
    ['{branch}/{topic}', 'must begin with text'],
    ['for/{branch}-{topic}', 'slash between'],
    ['for /{branch}/{topic}', 'blank'],
    ['for/{branch}/{topic}.lock', '.lock'],
    ['/for/{branch}/{topic}', 'empty part'],
  ])('is refused as %s, saying "%s"', (source, reason) => {
    expect(parseBranchTemplate(source)).toEqual({ kind: 'invalid', reason: expect.stringContaining(reason) });
  });

  test('reads back what it wrote, for any names', () => {
    const part = fc.stringMatching(/^[A-Za-z0-9_$;'"-][A-Za-z0-9_.$;'"@-]{0,8}$/);
    const sources = fc.constantFrom(
      'for/{branch}/{topic}',
      'wip/{topic}/to/{branch}',
      'p-{branch}/by/{topic}.x',
      'a/{topic}/{branch}',
    );
    fc.assert(
      fc.property(sources, fc.array(part, { minLength: 1, maxLength: 4 }), part, (source, branch, topic) => {
        const name = { branch: branch.join('/'), topic };
        expect(template(source).match(template(source).format(name))).toEqual(name);
      }),
    );
  });

  test('clashes with one that begins alike', () => {
    const proposals = template('for/{branch}/{topic}');
    expect(templateClash(proposals, template('gate/{branch}/{topic}'))).toBeUndefined();
    expect(templateClash(proposals, template('for/{branch}/{topic}'))).toContain('must begin differently');
    expect(templateClash(proposals, template('for/{branch}/{topic}/approved'))).toContain(
      'must begin differently',
    );
    expect(templateClash(template('f{branch}/{topic}'), proposals)).toContain('must begin differently');
  });
});
