import { describe, expect, test } from 'vitest';
import { freezeJobGraph } from '../../../src/layout/freeze/freeze-job-graph.ts';
import type { Layout } from '../../../src/layout/model/layout.ts';
import type { FrozenJob, Playbook } from '../../../src/model/job.ts';
import type { ProjectKey } from '../../../src/model/project.ts';
import { withValues } from '../../../src/model/secret.ts';
import { FROM_ZUUL_CLIENT } from '../../fake/project-keys.ts';
import { APP, errorsOf, LIB, layoutOf } from './fixture.ts';

const REVIEWED = `
- pipeline:
    name: reviewed
    post-review: true
    manager: dependent
    trigger: {local: {event: approved}}
    success: {local: {merge: true}}
`;
const secret = (name: string, more = '') => `
- secret: {name: ${name}, data: {user: ${name}, token: !encrypted/pkcs1-oaep AAAA}}${more}
`;

function frozen(layout: Layout, pipeline = 'reviewed', project: ProjectKey = APP): readonly FrozenJob[] {
  const outcome = freezeJobGraph({ layout, pipeline, change: { project, branch: 'master', files: ['a'] } });
  if (outcome.kind !== 'frozen') throw new Error(JSON.stringify(outcome));
  return outcome.jobs;
}

function refusal(layout: Layout, pipeline: string, project: ProjectKey = APP): string {
  const outcome = freezeJobGraph({ layout, pipeline, change: { project, branch: 'master', files: ['a'] } });
  return outcome.kind === 'misconfigured' ? outcome.errors.map(({ text }) => text).join('\n') : outcome.kind;
}

/** `<playbook>: <variable>=<secret>` */
function given(layout: Layout, job: FrozenJob | undefined): readonly string[] {
  const names = new Map([...layout.secrets.values()].map(({ sha256, secret: { name } }) => [sha256, name]));
  const shown = ({ path, secrets = [] }: Playbook) =>
    `${path}: ${secrets.map(each => `${each.name}=${names.get(each.secret)}`).join(' ')}`;
  return [...(job?.preRun ?? []), ...(job?.run ?? []), ...(job?.postRun ?? [])].map(shown);
}

describe('a secret', () => {
  test('is read as zuul-client prints it, at any depth, in one text or in chunks', () => {
    const layout = layoutOf({
      app: `${FROM_ZUUL_CLIENT}
- secret:
    name: nested
    data:
      list:
        - plain
        - deep: !encrypted/pkcs1-oaep |
            QUFB
            QUFB
      number: 4
      chunks: !encrypted/pkcs1-oaep [QUFB, QkJC]
      __proto__: {a: !encrypted/pkcs1-oaep Q0ND}
`,
    });
    expect(errorsOf(layout)).toEqual([]);
    expect(layout.secrets.get('deploy')?.secret.encrypted[0]?.chunks[0]).toMatch(
      /^JnNGbXJCb1ly[A-Za-z0-9+/]+==$/,
    );
    const data = layout.secrets.get('nested')?.secret;
    if (data === undefined) throw new Error('no secret');
    expect(data.encrypted.map(({ chunks }) => chunks)).toEqual([['QUFBQUFB'], ['QUFB', 'QkJC'], ['Q0ND']]);
    expect(JSON.stringify(withValues(data, ['one', 'two', 'three']))).toBe(
      '{"list":["plain",{"deep":"one"}],"number":4,"chunks":"two","__proto__":{"a":"three"}}',
    );
  });

  test.each([
    ['no data', '- secret: {name: a}', 'secret a lacks "data"'],
    ['no base64', '- secret: {name: a, data: {b: !encrypted/pkcs1-oaep "%%"}}', 'is not base64'],
    [
      'an encrypted value elsewhere',
      '- job: {name: a, vars: {b: !encrypted/pkcs1-oaep QUFB}}',
      'is for values in the data of a secret',
    ],
    ['two of a name', `${secret('a')}- secret: {name: a, data: {}}`, 'secret a is already defined'],
    ['unknown', '- job: {name: a, run: a.sh, secrets: [b]}', 'secret b of job a is not defined'],
    [
      'broken',
      '- secret: {name: b}\n- job: {name: a, run: a.sh, secrets: [b]}',
      'because of the error in its definition',
    ],
    [
      'taken',
      `${secret('b')}- job: {name: a, run: a.sh, secrets: {name: zuul, secret: b}}`,
      'the name "zuul" of a secret',
    ],
    [
      'no variable',
      `${secret('b')}- job: {name: a, run: a.sh, secrets: {name: a-b, secret: b}}`,
      'not a valid variable name',
    ],
    ['twice', `${secret('b')}- job: {name: a, run: a.sh, secrets: [b, b]}`, 'two secrets with the name "b"'],
  ])('is refused with the reason: %s', (_, app, text) => {
    expect(errorsOf(layoutOf({ app })).join('\n')).toContain(text);
  });

  test('of another project cannot be used', () => {
    const app = '- job: {name: thief, run: t.sh, secrets: [theirs]}';
    const errors = errorsOf(layoutOf({ lib: secret('theirs'), app })).join('\n');
    expect(errors).toContain('it belongs to project acme/lib');
  });
});

describe('the secrets of a job', () => {
  const config = `${REVIEWED}${secret('base-secret')}
- job: {name: publish, pre-run: pre.sh, run: publish.sh, secrets: [{name: alias, secret: base-secret}]}
`;
  const list = (job: string, pipeline = 'reviewed') => `- project: {${pipeline}: {jobs: [${job}]}}\n`;

  test('are for the playbooks of the definition that names them, and not for those of parents and children', () => {
    const app = `- job: {name: child, parent: publish, pre-run: own.sh, run: mine.sh, post-run: last.sh}\n${list('child')}`;
    const layout = layoutOf({ config, app });
    expect(given(layout, frozen(layout)[0])).toEqual([
      'setup.sh: ',
      'pre.sh: alias=base-secret',
      'own.sh: ',
      'mine.sh: ',
      'last.sh: ',
      'collect.sh: ',
    ]);
  });

  test('of a config-project run anywhere; of an untrusted project after review, and for that project alone', () => {
    const trusted = layoutOf({ config, app: list('publish', 'check') });
    expect(frozen(trusted, 'check').length).toBe(1);
    const own = `${secret('own')}- job: {name: mine, run: m.sh, secrets: own, allowed-projects: [acme/lib]}\n`;
    const app = `${own}- project: {check: {jobs: [mine]}, reviewed: {jobs: [mine]}}\n`;
    const layout = layoutOf({ config, app, lib: list('mine') });
    expect(refusal(layout, 'check')).toContain('runs on reviewed code only (post-review)');
    expect(frozen(layout).length).toBe(1);
    expect(refusal(layout, 'reviewed', LIB)).toContain('acme/lib is not allowed to run job mine');
  });

  test('with pass-to-parent reach the playbooks of parents, but for those that have one of that name', () => {
    const own = `${secret('own')}
- job:
    name: child
    parent: publish
    run: mine.sh
    secrets:
      - {name: alias, secret: own, pass-to-parent: true}
      - {name: other, secret: own, pass-to-parent: true}
      - own
`;
    const layout = layoutOf({ config, app: `${own}${list('child')}` });
    expect(given(layout, frozen(layout)[0])).toEqual([
      'setup.sh: alias=own other=own',
      'pre.sh: alias=base-secret other=own',
      'mine.sh: alias=own other=own own=own',
      'collect.sh: alias=own other=own',
    ]);
  });

  test('that a config-project passes to an untrusted parent make the job post-review', () => {
    const more =
      '- job: {name: wrapped, parent: theirs, secrets: {name: a, secret: base-secret, pass-to-parent: true}}\n';
    const app = `- job: {name: theirs, run: t.sh}\n${list('wrapped', 'check')}`;
    expect(refusal(layoutOf({ config: config + more, app }), 'check')).toContain('post-review');
  });

  test('alter the definition of the job when their content is proposed anew', () => {
    const app = (value: string) =>
      `- secret: {name: own, data: {v: ${value}}}\n- job: {name: mine, run: m.sh, files: nothing, secrets: own}\n${list('mine')}`;
    const before = layoutOf({ config, app: app('1') });
    const change = { project: APP, branch: 'master', files: ['a'] };
    const request = { pipeline: 'reviewed', change, before };
    const same = freezeJobGraph({ ...request, layout: layoutOf({ config, app: app('1') }) });
    const other = freezeJobGraph({ ...request, layout: layoutOf({ config, app: app('2') }) });
    expect(same.kind === 'frozen' && same.jobs.length).toBe(0);
    expect(other.kind === 'frozen' && other.jobs.length).toBe(1);
  });
});
