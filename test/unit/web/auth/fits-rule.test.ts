import { describe, expect, test } from 'vitest';
import type { ClaimCondition } from '../../../../src/model/authorization.ts';
import { fitsRule } from '../../../../src/web/auth/fits-rule.ts';

const claims = {
  iss: 'https://login.example.org',
  sub: '4711',
  groups: ['ci', 'acme'],
  level: 3,
  email_verified: true,
  'https://example.org/roles': ['ops'],
  resource_access: { account: { roles: ['admin', 'user'], team: 'core' } },
};
const fitsIn = (tenant: string | undefined, condition: ClaimCondition) =>
  fitsRule({ name: 'rule', conditions: [condition] }, { name: 'alice', claims }, tenant);
const fits = (condition: ClaimCondition) => fitsIn('acme', condition);

describe('a condition fits', () => {
  test.each<[string, ClaimCondition]>([
    ['an equal text', { iss: 'https://login.example.org' }],
    ['a member of a list', { groups: 'ci' }],
    ['an equal number', { level: 3 }],
    ['an equal boolean', { email_verified: true }],
    ['one of several values', { groups: ['none', 'ci'], level: [2, 3] }],
    ['a claim at a path', { 'resource_access.account.roles': 'admin' }],
    ['the same written as mappings', { resource_access: { account: { roles: 'admin', team: 'core' } } }],
    ['paths within mappings', { resource_access: { 'account.team': 'core' } }],
    ['a claim whose name has dots', { 'https://example.org/roles': 'ops' }],
    ['the user', { zuul_uid: 'alice' }],
    ['the tenant', { groups: '{tenant.name}' }],
    ['all of its claims', { zuul_uid: 'alice', groups: 'ci' }],
  ])('%s', (_, condition) => {
    expect(fits(condition)).toBe(true);
  });

  test.each<[string, ClaimCondition]>([
    ['another text', { iss: 'https://login.example.com' }],
    ['a part of a text', { iss: 'https://login' }],
    ['a missing claim', { role: 'admin' }],
    ['a list without the value', { groups: 'admin' }],
    ['a text where a number is wanted', { sub: 4711 }],
    ['a number where a text is wanted', { level: '3' }],
    ['a mapping where a text is wanted', { resource_access: 'account' }],
    ['a text where a mapping is wanted', { iss: { account: 'x' } }],
    ['a list where a mapping is wanted', { groups: { 0: 'ci' } }],
    ['a path that ends too soon', { 'resource_access.account.roles.admin': 'admin' }],
    ['what every object inherits', { 'constructor.name': 'Object', __proto__: 'x', toString: 'x' }],
    ['the subject instead of the user', { zuul_uid: '4711' }],
    ['one of two claims', { zuul_uid: 'alice', groups: 'admin' }],
  ])('not %s', (_, condition) => {
    expect(fits(condition)).toBe(false);
  });

  test('no group by the name of a tenant where there is none', () => {
    for (const tenant of [undefined, 'other'])
      expect(fitsIn(tenant, { groups: '{tenant.name}' })).toBe(false);
  });

  test('when one of the conditions of a rule does', () => {
    const conditions = [{ groups: 'admin' }, { level: 3 }];
    expect(fitsRule({ name: 'rule', conditions }, { name: 'alice', claims }, 'acme')).toBe(true);
  });
});
