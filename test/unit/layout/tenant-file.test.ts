import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseTenantFile } from '../../../src/layout/tenant/tenant-file.ts';
import { configErrorText } from '../../../src/model/config-error.ts';
import type { Tenant } from '../../../src/model/layout.ts';

const CONNECTIONS = new Map([
  ['local', 'local'],
  ['github', 'github.com'],
]);

function parse(text: string) {
  return parseTenantFile(text, 'tenants.yaml', CONNECTIONS);
}

function tenantsOf(text: string): readonly Tenant[] {
  const parsed = parse(text);
  if (parsed.kind === 'invalid') throw new Error(parsed.errors.map(configErrorText).join('\n'));
  return parsed.tenants;
}

function errorsOf(text: string): readonly string[] {
  const parsed = parse(text);
  return parsed.kind === 'invalid' ? parsed.errors.map(configErrorText) : [];
}

const HEAD = '- tenant:\n    name: acme\n    source:\n      local:\n';

describe('a tenant file', () => {
  it('lists config-projects first, across connections', () => {
    const [tenant] = tenantsOf(
      `${HEAD}        untrusted-projects: [acme/app]\n        config-projects:\n          - acme/config: {load-branch: production}\n      github:\n        config-projects: [jobs]\n`,
    );
    expect(tenant).toEqual({
      name: 'acme',
      hosts: { local: 'local', github: 'github.com' },
      maxJobTimeout: 10_800,
      maxNodesPerJob: 5,
      projects: [
        {
          project: 'local/acme/config',
          trusted: true,
          includeBranches: [],
          excludeBranches: [],
          loadBranch: 'production',
        },
        { project: 'github/jobs', trusted: true, includeBranches: [], excludeBranches: [] },
        { project: 'local/acme/app', trusted: false, includeBranches: [], excludeBranches: [] },
      ],
    });
  });

  it('limits; -1 is none', () => {
    const [tenant] = tenantsOf(
      '- tenant:\n    name: a\n    source: {}\n    max-dependencies: 5\n    max-changes-per-pipeline: -1\n    max-job-timeout: 60\n    max-nodes-per-job: -1\n',
    );
    const hosts = Object.fromEntries(CONNECTIONS);
    expect(tenant).toEqual({ name: 'a', projects: [], hosts, maxDependencies: 5, maxJobTimeout: 60 });
    expect(
      tenantsOf('- tenant:\n    name: a\n    source: {}\n    max-job-timeout: -1\n')[0]?.maxJobTimeout,
    ).toBe(Number.MAX_SAFE_INTEGER);
  });

  it('branches left out for what their host says of them, by the project, else by the tenant', () => {
    const [tenant] = tenantsOf(`- tenant:
    name: acme
    exclude-unprotected-branches: true
    source:
      local:
        untrusted-projects:
          - a
          - b: {exclude-unprotected-branches: false, exclude-locked-branches: true}
`);
    const none = { trusted: false, includeBranches: [], excludeBranches: [] };
    expect(tenant?.projects).toEqual([
      { project: 'local/a', ...none, excludeUnprotected: true },
      { project: 'local/b', ...none, excludeLocked: true },
    ]);
  });

  it('branches and kinds of stanzas per project, groups give defaults and their exclusions add up', () => {
    const UNREAD = ['image', 'flavor', 'label', 'section', 'provider'];
    const [tenant] = tenantsOf(`${HEAD}        untrusted-projects:
          - a: {include-branches: [master, stable/.*]}
          - b: {exclude-branches: wip/.*, exclude: [secret, nodeset]}
          - include: job
            projects:
              - c
              - d: {include: [project, queue]}
              - e:
          - exclude: [project]
            projects:
              - f: {exclude: [job]}
              - exclude: [queue, nodeset, secret, semaphore, image, flavor, label, section, provider]
                projects: [g]
`);
    expect(tenant?.projects).toMatchObject([
      { project: 'local/a', includeBranches: ['master', 'stable/.*'] },
      {
        project: 'local/b',
        excludeBranches: ['wip/.*'],
        itemKinds: [
          'pipeline',
          'job',
          'project',
          'project-template',
          'queue',
          'semaphore',
          ...UNREAD,
          'pragma',
        ],
      },
      { project: 'local/c', itemKinds: ['job', 'pragma'] },
      { project: 'local/d', itemKinds: ['project', 'queue', 'pragma'] },
      { project: 'local/e', itemKinds: ['job', 'pragma'] },
      {
        project: 'local/f',
        itemKinds: [
          'pipeline',
          'project-template',
          'queue',
          'nodeset',
          'secret',
          'semaphore',
          ...UNREAD,
          'pragma',
        ],
      },
      { project: 'local/g', itemKinds: ['pipeline', 'job', 'project-template', 'pragma'] },
    ]);
  });

  it('the sample is valid', () => {
    const sample = readFileSync(new URL('../../../etc/tenants.yaml', import.meta.url), 'utf8');
    expect(tenantsOf(sample)[0]?.projects.length).toBe(4);
  });
});

it('takes a tenant without projects, as Zuul does, with a warning', () => {
  const parsed = parse('- tenant:\n    name: a\n');
  if (parsed.kind === 'invalid') return expect.unreachable(parsed.errors.map(configErrorText).join('\n'));
  expect(parsed.tenants).toMatchObject([{ name: 'a', projects: [] }]);
  expect(parsed.warnings.map(configErrorText)).toEqual([
    'tenants.yaml:2:5: tenant a lacks "source", the connections and projects it consists of: it is empty',
  ]);
});

it('takes options of Zuul that do nothing here, with one warning for each', () => {
  const text = `- tenant:
    name: a
    web-root: https://a.example.org
    report-build-page: true
    default-ansible-version: 9
    use-nodepool: false
    allow-circular-dependencies: true
    source:
      local:
        config-projects: [c: {include-provider-config: true, load-branch: main}, d: {exclude-branches: wip}]
        untrusted-projects:
          - projects: [x: {include-provider-config: true, load-branch: main}]
            include: job
          - y: {include-provider-config: true, load-branch: main}
- tenant: {name: b, web-root: /b, source: {}}
`;
  const parsed = parse(text);
  if (parsed.kind === 'invalid') return expect.unreachable(parsed.errors.map(configErrorText).join('\n'));
  expect(parsed.warnings.map(configErrorText)).toEqual([
    'tenants.yaml:3:5: "web-root" has no effect: links lead to [web] root (and at 1 more place)',
    'tenants.yaml:4:5: "report-build-page" has no effect: reports always link to the pages of builds',
    'tenants.yaml:5:5: "default-ansible-version" has no effect: playbooks run with the Ansible of the executor ([scheduler] ansible_versions names others)',
    'tenants.yaml:6:5: "use-nodepool" has no effect: there is no nodepool; executors offer labels',
    'tenants.yaml:7:5: "allow-circular-dependencies" has no effect: a queue decides that, by the attribute of this name',
    'tenants.yaml:10:31: "include-provider-config" has no effect: there are no providers of nodes; executors offer labels (and at 2 more places)',
    'tenants.yaml:10:86: "exclude-branches" has no effect: of a config-project one branch is read (load-branch)',
    'tenants.yaml:12:59: "load-branch" has no effect: of an untrusted project all branches are read; use include-branches (and at 1 more place)',
  ]);
  expect(parsed.warnings.every(({ severity, code }) => severity === 'warning' && code === 'no-effect')).toBe(
    true,
  );
  expect(parsed.tenants[0]?.projects.map(({ loadBranch }) => loadBranch)).toEqual([
    'main',
    ...[undefined, undefined, undefined],
  ]);
  expect(parsed.tenants[0]?.projects.map(({ excludeBranches }) => excludeBranches)).toEqual([[], [], [], []]);
});

describe('mistakes refuse the file', () => {
  it.each<[string, string, string[]]>([
    [
      'an empty file',
      '',
      ['tenants.yaml:1:1: the tenant file is empty; it must be a list of "- tenant:" stanzas'],
    ],
    [
      'a mapping',
      'tenant:\n  name: a\n',
      ['tenants.yaml:1:1: the tenant file is a mapping; it must be a list of "- tenant:" stanzas'],
    ],
    [
      'another stanza',
      '- tenat:\n    name: a\n',
      ['tenants.yaml:1:3: unknown stanza "tenat", did you mean "tenant"?'],
    ],
    [
      'global semaphores that are none',
      '- global-semaphore: {max: 2}\n- global-semaphore: {name: a, max: 0}\n- global-semaphore: {name: a}\n',
      [
        'tenants.yaml:1:21: global-semaphore lacks "name"',
        'tenants.yaml:2:36: max of global-semaphore is 0; it must be at least 1',
        'tenants.yaml:3:3: global-semaphore a is defined twice; remove one',
      ],
    ],
    [
      'a global semaphore that is nowhere',
      '- global-semaphore: {name: licence}\n- tenant: {name: a, source: {}, semaphores: [licenc]}\n',
      [
        'tenants.yaml:2:46: tenant a may use licenc, but there is no global-semaphore of that name, did you mean "licence"?; define it in this file',
      ],
    ],
    [
      'a key beside tenant',
      '- tenant:\n  name: a\n',
      [
        'tenants.yaml:1:3: tenant is nothing; it must be a mapping',
        'tenants.yaml:2:3: "name" is next to "tenant"; indent it below "tenant" or start it with "- "',
      ],
    ],
    ['no name', '- tenant:\n    source: {}\n', ['tenants.yaml:2:5: tenant lacks "name"']],
    [
      'a name unfit for a URL',
      '- tenant:\n    name: a/b\n    source: {}\n',
      [
        'tenants.yaml:2:11: "a/b" is not a valid tenant name (it appears in URLs); use letters, digits, ".", "_" and "-"',
      ],
    ],
    [
      'an unknown key',
      '- tenant:\n    name: a\n    source: {}\n    max-dependancies: 3\n',
      ['tenants.yaml:4:5: unknown key "max-dependancies" of tenant a, did you mean "max-dependencies"?'],
    ],
    [
      'a limit that is none',
      '- tenant:\n    name: a\n    source: {}\n    max-dependencies: many\n',
      ['tenants.yaml:4:23: max-dependencies of tenant a is the string "many"; it must be a whole number'],
    ],
    [
      'two tenants of one name',
      '- tenant: {name: a, source: {}}\n- tenant: {name: a, source: {}}\n',
      ['tenants.yaml:2:3: tenant a is defined twice, first at line 1; rename one'],
    ],
    [
      'an unknown connection',
      '- tenant:\n    name: a\n    source:\n      locale:\n        config-projects: [x]\n',
      ['tenants.yaml:4:7: no connection is called "locale", did you mean "local"?'],
    ],
    [
      'an unknown key of a source',
      `${HEAD}        config-project: [x]\n`,
      [
        'tenants.yaml:5:9: unknown key "config-project" of source local of tenant acme, did you mean "config-projects"?',
      ],
    ],
    [
      'a project twice',
      `${HEAD}        config-projects: [x]\n        untrusted-projects: [x]\n`,
      ['tenants.yaml:6:30: tenant acme lists local/x twice; remove one'],
    ],
    [
      'an unknown option',
      `${HEAD}        untrusted-projects:\n          - x: {shadw: y}\n`,
      ['tenants.yaml:6:17: unknown key "shadw" of project x, did you mean "shadow"?'],
    ],
    [
      'always dynamic branches by what is no expression',
      `${HEAD}        untrusted-projects:\n          - x: {always-dynamic-branches: "("}\n`,
      ['tenants.yaml:6:43: invalid regular expression "(": missing closing ) at "("'],
    ],
    [
      'options at the wrong depth',
      `${HEAD}        untrusted-projects:\n          - x:\n            include: job\n`,
      [
        'tenants.yaml:7:13: a project must be a name or a name with options below it; indent "include" further if it is an option of "x"',
      ],
    ],
    [
      'a kind that is none',
      `${HEAD}        untrusted-projects:\n          - include: jobs\n            projects: [x, y]\n`,
      ['tenants.yaml:6:22: "jobs" is not a kind of stanza, did you mean "job"?'],
    ],
    [
      'a branch pattern RE2 cannot do',
      `${HEAD}        untrusted-projects:\n          - x: {include-branches: '.*(?!wip)'}\n`,
      [
        'tenants.yaml:6:36: invalid regular expression ".*(?!wip)": lookaround is not supported by RE2, but as (?!…) behind a fixed beginning; match the opposite and use negate: true',
      ],
    ],
    [
      'a name that leads out',
      `${HEAD}        untrusted-projects: [../x]\n`,
      ['tenants.yaml:5:30: "../x" is not a valid project name'],
    ],
    [
      'no YAML',
      '- tenant: [\n',
      [
        'tenants.yaml:2:1: not valid YAML: deficient indentation; a bracket or quote above is not closed, or this line must be indented further',
      ],
    ],
    [
      'a duplicate key',
      '- tenant:\n    name: a\n    name: b\n    source: {}\n',
      ['tenants.yaml:3:5: key "name" is repeated, first at line 2; remove one'],
    ],
  ])('%s', (_, text, expected) => {
    expect(errorsOf(text)).toEqual(expected);
  });
});
