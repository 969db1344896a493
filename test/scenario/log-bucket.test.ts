/** Logs leave their executor for a bucket, and are read all the same; a bucket that refuses them holds up no change. */
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, expect } from 'vitest';
import { buildKeys } from '../../src/executor/log-store/log-bucket.ts';
import { openS3Bucket } from '../../src/executor/log-store/s3-bucket.ts';
import { startS3Server } from '../fake/s3/s3-server.ts';
import { runCommand } from './demo-story.ts';
import { layoutWith } from './layouts.ts';
import { stateOf, TENANT } from './site.ts';
import { story } from './story.ts';
import type { World } from './world.ts';

const server = await startS3Server();
afterAll(() => server[Symbol.asyncDispose]());

const layout = layoutWith(`
- job: {name: report, run: playbooks/report.sh}
- project:
    name: org/project
    gate: {jobs: [report]}
`);
const configFiles = {
  'playbooks/report.sh': `#!/bin/sh
echo 'hello from the job'
mkdir -p "$ZUUL_LOG_DIR/html"
echo '<b>all passed</b>' > "$ZUUL_LOG_DIR/html/index.html"
`,
};
const { bucket, endpoint, prefix } = server.settings();
const sections = [
  `[log_store]
bucket = ${bucket}
endpoint = ${endpoint}
prefix = ${prefix}
access_key_id = S3RVER
secret_access_key = S3RVER`,
];
const expectedTrouble = [/logs of 1 builds wait for bucket ci-logs .*\(403\)/];
const anySignal = () => AbortSignal.timeout(60_000);

/** The build of a change that has just landed. */
async function land(world: World, topic: string): Promise<string> {
  await world.propose(topic);
  await world.approve(topic);
  await world.leaves(topic, 'SUCCESS');
  const [build] = await world.api.get<readonly { readonly uuid: string }[]>(
    `/api/tenant/${TENANT}/builds?change=master/${topic}`,
  );
  return build?.uuid ?? expect.unreachable();
}

/** By every way there is. */
async function read(world: World, build: string) {
  const path = `/api/tenant/${TENANT}/build/${build}`;
  const whole = await world.api.text(`${path}/logs/job-output.txt`);
  const part = await world.api.text(`${path}/log?offset=5&limit=20`);
  expect(part).toBe(whole.slice(5, 25));
  expect(await runCommand(['log', build, '--url', world.service.url, '--raw'])).toBe(whole);
  expect(await world.api.text(`${path}/logs/html/index.html`)).toBe('<b>all passed</b>\n');
  return whole;
}

story(
  'logs are read from the bucket once they are there, and from the executor while it refuses them',
  { layout, configFiles, sections, expectedTrouble },
  async world => {
    using stored = openS3Bucket(server.settings());
    const logDir = join(stateOf(dirname(dirname(world.config))), 'logs');
    const isStored = async (build: string) => {
      const keys = await stored.list(buildKeys(build).all, anySignal());
      const isHere = (await readdir(logDir)).some(name => name.endsWith(build));
      return keys.includes(buildKeys(build).mark) && !isHere && keys;
    };

    const first = await land(world, 'A');
    const keys = await world.observer.until('the log of A to be in the bucket', () => isStored(first));
    expect(keys.filter(key => key.includes('/files/'))).toHaveLength(2);
    expect(keys).toContain(buildKeys(first).log);
    expect(await read(world, first)).toContain('hello from the job');

    server.refuse(403, 503);
    const second = await land(world, 'B');
    await world.observer.until('the bucket to refuse the log of B', () =>
      world.log.trouble.some(line => expectedTrouble.some(each => each.test(line))),
    );
    const log = await read(world, second);
    expect(await readdir(logDir)).toContain(second);

    server.refuse();
    await world.observer.until('the log of B to be in the bucket', () => isStored(second));
    expect(await read(world, second)).toBe(log);

    // A web that knows what is in the bucket, and has no log in its memory; then as retention does it.
    await world.restart('org/project');
    const path = `${world.service.url}/api/tenant/${TENANT}/build/${second}`;
    const statusOf = async (route: string) => (await fetch(`${path}/${route}`)).status;
    expect(await statusOf('logs/html/index.html')).toBe(200);
    for (const key of [buildKeys(second).mark, buildKeys(second).log]) await stored.remove(key, anySignal());
    for (const route of ['log', 'logs/job-output.txt', 'logs/html/index.html'])
      expect([route, await statusOf(route)]).toEqual([route, 404]);
  },
);
