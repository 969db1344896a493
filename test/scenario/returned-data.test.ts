/** Data that a job returns reaches the jobs that depend on it, and its secret part nothing else. */
import { expect } from 'vitest';
import { KEYSTORE_PASSWORD } from '../fake/project-keys.ts';
import { layoutWith } from './layouts.ts';
import { TENANT } from './site.ts';
import { storeTexts } from './store-texts.ts';
import { story } from './story.ts';

const CANARY = 'kanarienvogel-4712';
const layout = layoutWith(
  `
- job: {name: build, run: playbooks/build.sh}
- job: {name: between}
- job: {name: deploy, run: [playbooks/deploy.sh, playbooks/job.sh], vars: {level: job}}
- project:
    name: org/project
    gate:
      jobs:
        - build
        - between: {dependencies: [build]}
        - deploy: {dependencies: [between]}
`,
  { notes: false },
);
const configFiles = {
  'playbooks/build.sh': `#!/bin/sh
set -eu
gatehouse return '{"zuul": {"log_url": "https://logs.example.org/1/", "artifacts": [{"name": "image", "url": "image.tar", "metadata": {"type": "container"}}]}, "version": "1.2", "level": "parent"}'
gatehouse return --secret <<.
{"token": "${'kanarien'}$(printf vogel)-4712"}
.
`,
  'playbooks/deploy.sh': `#!/bin/sh
set -eu
node -e '
  const { vars, zuul } = JSON.parse(require("fs").readFileSync(process.env.GATEHOUSE_VARIABLES));
  const secret = JSON.parse(require("fs").readFileSync(process.env.ZUUL_SECRETS_FILE));
  console.log("got", vars.version, vars.level, secret.token.length, JSON.stringify(zuul.artifacts));
'
cat "$ZUUL_SECRETS_FILE"
gatehouse step "step $(cat "$ZUUL_SECRETS_FILE")" -- true
`,
};

interface Build {
  readonly uuid: string;
  readonly job_name: string;
}

story(
  'artifacts, data and secret data of a job reach one that depends on it, and nothing else shows the secret',
  { layout, configFiles, sections: ['[keystore]', `password = ${KEYSTORE_PASSWORD.reveal()}`] },
  async world => {
    await world.propose('A');
    await world.approve('A');
    await world.runs('between: A');
    const uuid = world.item('A')?.uuid;
    for (const [name, text] of await storeTexts(world)) expect(text.includes(CANARY), name).toBe(false);
    world.release(/between/);
    await world.runs('deploy: A');
    for (const [name, text] of await storeTexts(world)) expect(text.includes(CANARY), name).toBe(false);
    world.free();
    await world.leaves('A', 'SUCCESS');

    const builds = await world.api.get<readonly Build[]>(`/api/tenant/${TENANT}/builds`);
    const named = (job: string) => builds.find(({ job_name }) => job_name === job);
    expect(named('build')).toMatchObject({
      log_url: 'https://logs.example.org/1/',
      artifacts: [
        { name: 'image', url: 'https://logs.example.org/1/image.tar', metadata: { type: 'container' } },
      ],
    });
    const log = await world.api.text(`/api/tenant/${TENANT}/build/${named('deploy')?.uuid}/log`);
    const [, got = ''] = /got 1\.2 job (.*)/.exec(log) ?? [];
    expect(got.slice(0, 2)).toBe(`${CANARY.length}`);
    expect(JSON.parse(got.slice(3))).toEqual([
      {
        name: 'image',
        url: 'https://logs.example.org/1/image.tar',
        metadata: { type: 'container' },
        project: 'org/project',
        job: 'build',
        branch: 'master',
        change: 'master/A',
        patchset: expect.stringMatching(/^[0-9a-f]{40}$/),
      },
    ]);
    expect(log).toContain('{"token":"***"}');
    await world.observer.until('the span of the step', () =>
      world.sink.spans.find(({ name }) => name.includes('{"token":"***"}')),
    );
    const answers = [
      ...['status', 'items', 'builds', 'buildsets'],
      ...['', '/trace', '/explain'].map(part => `item/${uuid}${part}`),
      ...builds.flatMap(build => [`build/${build.uuid}`, `build/${build.uuid}/log`]),
    ];
    for (const answer of answers)
      expect(await world.api.text(`/api/tenant/${TENANT}/${answer}`), answer).not.toContain(CANARY);
    for (const { body } of world.sink.requests) expect(body.includes(CANARY)).toBe(false);
    for (const [name, text] of await storeTexts(world)) expect(text.includes(CANARY), name).toBe(false);
    expect(world.log.tail()).not.toContain(CANARY);
  },
);
