import { describe, expect, test } from 'vitest';
import { parseTenantFile } from '../../../src/layout/tenant/tenant-file.ts';
import { configErrorText } from '../../../src/model/config-error.ts';

const parse = (text: string) => parseTenantFile(text, 'tenants.yaml', new Map([['local', 'local']]));

function accessOf(text: string) {
  const parsed = parse(text);
  if (parsed.kind === 'invalid') throw new Error(parsed.errors.map(configErrorText).join('\n'));
  return parsed.tenants.map(({ access }) => access);
}

function errorsOf(text: string): readonly string[] {
  const parsed = parse(text);
  return parsed.kind === 'invalid' ? parsed.errors.map(configErrorText) : [];
}

const RULE = '- authorization-rule: {name: staff, conditions: [{groups: ci}]}\n';
const STAFF = { name: 'staff', conditions: [{ groups: 'ci' }] };

describe('who may read and operate a tenant', () => {
  test('is nothing the file says, unless it does', () => {
    expect(accessOf(`${RULE}- tenant: {name: a, source: {}}\n`)).toEqual([undefined]);
  });

  test('is said by rules, which may stand behind the tenants that name them', () => {
    const text = `- tenant: {name: a, source: {}, access-rules: [staff], admin-rules: staff, authentication-realm: company}\n- tenant: {name: b, source: {}}\n${RULE}`;
    expect(accessOf(text)).toEqual([
      { accessRules: [STAFF], adminRules: [STAFF], realm: 'company' },
      undefined,
    ]);
  });

  test('takes conditions as they are, nested and with lists, under the older name as well', () => {
    const text =
      '- admin-rule:\n    name: old\n    conditions:\n      - resource_access: {account: {roles: admin}}\n        email_verified: true\n      - zuul_uid: [alice, bob]\n- tenant: {name: a, source: {}, admin-rules: [old]}\n';
    expect(accessOf(text)).toEqual([
      {
        accessRules: [],
        adminRules: [
          {
            name: 'old',
            conditions: [
              { resource_access: { account: { roles: 'admin' } }, email_verified: true },
              { zuul_uid: ['alice', 'bob'] },
            ],
          },
        ],
      },
    ]);
  });

  test('of the whole installation goes with every tenant', () => {
    const text = `${RULE}- api-root: {access-rules: [staff], authentication-realm: company}\n- tenant: {name: a, source: {}}\n- tenant: {name: b, source: {}, admin-rules: [staff]}\n`;
    const root = { accessRules: [STAFF], realm: 'company' };
    expect(accessOf(text)).toEqual([
      { accessRules: [], adminRules: [], root },
      { accessRules: [], adminRules: [STAFF], root },
    ]);
  });

  test.each<[what: string, text: string, errors: readonly string[]]>([
    [
      'a rule that is nowhere',
      `${RULE}- tenant: {name: a, source: {}, access-rules: [stuff]}\n`,
      [
        'tenants.yaml:2:48: access-rules of tenant a names stuff, but there is no authorization-rule of that name, did you mean "staff"?; define it in this file',
      ],
    ],
    [
      'a list that lets all read by being empty',
      '- tenant: {name: a, source: {}, access-rules: []}\n',
      ['tenants.yaml:1:33: access-rules of tenant a is empty, which lets all read; name a rule or remove it'],
    ],
    [
      'a condition that any token would fit',
      '- authorization-rule: {name: a, conditions: [{}]}\n- authorization-rule: {name: b, conditions: [{groups: {}}, {sub: }]}\n',
      [
        '1:46: a condition of authorization-rule a',
        '2:55: a condition of authorization-rule b',
        '2:61: a condition of authorization-rule b',
      ].map(
        begin =>
          `tenants.yaml:${begin} has an empty value, which would fit any token or none; name a claim and its value`,
      ),
    ],
    [
      'a rule without conditions',
      '- authorization-rule: {name: a}\n- admin-rule: {name: b, conditions: []}\n',
      [
        'tenants.yaml:1:23: authorization-rule a lacks "conditions", a list of claims with their values',
        'tenants.yaml:2:15: admin-rule b lacks "conditions", a list of claims with their values',
      ],
    ],
    [
      'a rule twice, under either name',
      `${RULE}- admin-rule: {name: staff, conditions: [{sub: a}]}\n`,
      ['tenants.yaml:2:3: admin-rule staff is defined twice; rename one'],
    ],
    [
      'a condition that is none',
      '- authorization-rule: {name: a, conditions: [staff]}\n- authorization-rule: [a]\n',
      [
        'tenants.yaml:1:46: a condition of authorization-rule a is the string "staff"; it must be a mapping of claims to values',
        'tenants.yaml:2:23: authorization-rule is a list; it must be a mapping',
      ],
    ],
    [
      'a second root',
      '- api-root: {}\n- api-root: {}\n',
      ['tenants.yaml:2:3: a second "api-root"; a tenant file has one at most'],
    ],
  ])('%s refuses the file', (_, text, errors) => {
    expect(errorsOf(text)).toEqual(errors);
  });
});
