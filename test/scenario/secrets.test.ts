/** A secret goes through the whole service, and nothing but the playbook that may have it ever shows it. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { encryptOaep } from '../../src/lib/pkcs1-oaep.ts';
import { KEYSTORE_PASSWORD, PUBLIC_KEY, SSH_PUBLIC_KEY, ZUUL_KEYS } from '../fake/project-keys.ts';
import { layoutWith } from './layouts.ts';
import { storeTexts } from './store-texts.ts';
import { story, storyOnBothStores } from './story.ts';

const CANARY = 'kanarienvogel-4711';
const KEY_OF = 'org%2Fproject';
/** The same keys for two projects. */
const keys = JSON.stringify({
  keys: {
    ...JSON.parse(ZUUL_KEYS).keys,
    ...JSON.parse(ZUUL_KEYS.replaceAll(KEY_OF, 'org%2Fconfig')).keys,
  },
});
const sections = ['[keystore]', `password = ${KEYSTORE_PASSWORD.reveal()}`];

function secretYaml(name: string, token: readonly string[]): string {
  const chunks = token.map(chunk => `        - ${chunk}\n`).join('');
  return `\n- secret:\n    name: ${name}\n    data:\n      user: robot\n      token: !encrypted/pkcs1-oaep\n${chunks}`;
}

const layout = layoutWith(
  `${secretYaml('deploy', encryptOaep(CANARY, PUBLIC_KEY))}
- job:
    name: parent
    pre-run: playbooks/without.sh
    post-run: playbooks/without.sh
- job:
    name: publish
    parent: parent
    run: [playbooks/leak.sh, playbooks/job.sh]
    secrets: [deploy]
- project:
    name: org/project
    gate: {jobs: [publish]}
`,
  { gate: { more: ['post-review: true'] } },
);
const configFiles = {
  'playbooks/without.sh':
    '#!/bin/sh\n! printenv ZUUL_SECRETS_FILE && test ! -e /run/gatehouse/secrets.json\n',
  'playbooks/leak.sh': `#!/bin/sh
set -eu
stat -c 'mode %a' "$ZUUL_SECRETS_FILE"
sha256sum <"$ZUUL_SECRETS_FILE"
cat "$ZUUL_SECRETS_FILE"
gatehouse step "step $(cat "$ZUUL_SECRETS_FILE")" -- true
`,
};
const READ = `${JSON.stringify({ deploy: { user: 'robot', token: CANARY } })}\n`;

storyOnBothStores(
  'a secret reaches its playbook, and no log, span, row, node, answer, argument or environment',
  { layout, configFiles, sections, keys },
  async world => {
    expect(await world.api.text('/api/tenant/tenant-one/key/org/project.pub')).toBe(PUBLIC_KEY);
    expect(await world.api.text('/api/tenant/tenant-one/project-ssh-key/org/project.pub')).toBe(
      `${SSH_PUBLIC_KEY}\n`,
    );
    await world.propose('A');
    await world.approve('A');
    await world.runs('publish: A');
    for (const [name, text] of processTexts()) expect(text.includes(CANARY), name).toBe(false);
    for (const [name, text] of await storeTexts(world)) expect(text.includes(CANARY), name).toBe(false);
    const uuid = world.item('A')?.uuid;
    world.release(/./);
    await world.leaves('A', 'SUCCESS');
    expect(await world.landed()).toEqual(['A']);

    const builds = await world.api.get<readonly { readonly uuid: string }[]>('/api/tenant/tenant-one/builds');
    const log = await world.api.text(`/api/tenant/tenant-one/build/${builds[0]?.uuid}/log`);
    expect(log).toContain('mode 400');
    expect(log).toContain(createHash('sha256').update(READ).digest('hex'));
    expect(log).toContain('{"deploy":{"user":"robot","token":"***"}}');
    await world.observer.until('the span of the step', () =>
      world.sink.spans.some(({ name }) => name.includes('step {"deploy":{"user":"robot","token":"***"}}')),
    );
    const answers = [
      ...['status', 'items', 'builds', 'buildsets', 'config-errors', 'jobs', 'projects'],
      ...['', '/trace', '/explain'].map(part => `item/${uuid}${part}`),
      ...builds.flatMap(build => [`build/${build.uuid}`, `build/${build.uuid}/log`]),
    ];
    for (const answer of answers)
      expect(await world.api.text(`/api/tenant/tenant-one/${answer}`), answer).not.toContain(CANARY);
    for (const { body } of world.sink.requests) expect(body.includes(CANARY)).toBe(false);
    for (const [name, text] of await storeTexts(world)) expect(text.includes(CANARY), name).toBe(false);
    expect(world.log.tail()).not.toContain(CANARY);
  },
);

const own = (token: readonly string[], post = '') => `${secretYaml('own', token)}
- job: {name: deploy, run: playbooks/deploy.sh, secrets: [own]}
- project:
    check: {jobs: [plain]}
    gate: {jobs: [deploy]}
${post}`;

story(
  'a change that brings a secret of another key is a configuration error at its place, and a good one is used as proposed',
  {
    layout: layoutWith('\n- job: {name: plain}\n', { check: true, gate: { more: ['post-review: true'] } }),
    projects: {
      'org/project': {
        '.zuul.yaml': own(encryptOaep('first value', PUBLIC_KEY)),
        'playbooks/deploy.sh': '#!/bin/sh\nsha256sum <"$ZUUL_SECRETS_FILE"\n',
      },
    },
    sections,
    keys,
  },
  async world => {
    const other = [Buffer.alloc(256, 7).toString('base64')];
    await world.propose('A', { files: { '.zuul.yaml': own(other) } });
    await world.leaves('A', 'CONFIG_ERROR', 'check');
    const [note = ''] = await world.notes('A');
    expect(note).toContain('secret own cannot be decrypted with the key of project org/project');
    expect(note).toMatch(/\.zuul\.yaml:\d+/);

    await world.propose('B', { files: { '.zuul.yaml': own(encryptOaep('second value', PUBLIC_KEY)) } });
    await world.approve('B');
    world.free();
    await world.leaves('B', 'SUCCESS');
    const builds = await world.api.get<readonly { readonly uuid: string; readonly job_name: string }[]>(
      '/api/tenant/tenant-one/builds',
    );
    const build = builds.find(each => each.job_name === 'deploy');
    const log = await world.api.text(`/api/tenant/tenant-one/build/${build?.uuid}/log`);
    const read = `${JSON.stringify({ own: { user: 'robot', token: 'second value' } })}\n`;
    expect(log).toContain(createHash('sha256').update(read).digest('hex'));
  },
);

/** Arguments and environments of all processes of this machine that may be read. */
function processTexts(): readonly (readonly [name: string, text: Buffer])[] {
  const pids = readdirSync('/proc').filter(name => /^\d+$/.test(name));
  return pids.flatMap(pid =>
    ['cmdline', 'environ'].flatMap(file => {
      try {
        return [[`${file} of process ${pid}`, readFileSync(`/proc/${pid}/${file}`)] as const];
      } catch {
        // It ended, or is another user's.
        return [];
      }
    }),
  );
}

/** Every file of the service: store, history, logs, mirrors, workspaces; and the nodes of an ensemble. */
