/** All 18 commands of zuul-client 14 against the real service: each does what it says, or is refused with a sentence. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { SignJWT } from 'jose';
import { expect } from 'vitest';
import { KEYSTORE_PASSWORD } from '../fake/project-keys.ts';
import { layoutWith } from '../scenario/layouts.ts';
import { story } from '../scenario/story.ts';
import type { World } from '../scenario/world.ts';
import { ZUUL_CLIENT } from './install-zuul-client.ts';

const SECRET = 'a secret of the scenario that is long enough';
const layout = layoutWith(
  `
- job: {name: unit}
- project:
    name: org/project
    check: {jobs: [unit]}
    gate: {jobs: [unit]}
`,
  { check: true },
);
const sections = [
  '[keystore]',
  `password = ${KEYSTORE_PASSWORD.reveal()}`,
  '[auth operators]',
  'driver = HS256',
  'realm = operators',
  'issuer_id = us',
  'client_id = gatehouse',
  'allow_authz_override = true',
  `secret = ${SECRET}`,
];
const TENANT = ['--tenant', 'tenant-one'];
const PROJECT = [...TENANT, '--project', 'org/project'];

interface Ran {
  readonly ok: boolean;
  readonly output: string;
}

async function clientOf(world: World) {
  const token = await new SignJWT({
    iss: 'us',
    aud: 'gatehouse',
    sub: 'alice',
    zuul: { admin: ['tenant-one'] },
  })
    .setProtectedHeader({ alg: 'HS256' })
    .setExpirationTime('1h')
    .sign(Buffer.from(SECRET));
  const always = ['--zuul-url', world.api.root, '--auth-token', token];
  return (...args: readonly string[]): Promise<Ran> =>
    new Promise(resolve => {
      execFile(ZUUL_CLIENT, [...always, ...args], (error, stdout, stderr) =>
        resolve({ ok: error === null, output: `${stdout}${stderr}` }),
      );
    });
}

story('every command of zuul-client works, or is refused in words', { layout, sections }, async world => {
  const zuul = await clientOf(world);
  const table: string[] = [];
  const note = (command: string, { ok, output }: Ran, what: string) => {
    table.push(`${command.padEnd(24)}${ok ? 'ok' : 'refused'}  ${what}`);
    return output;
  };
  const works = async (command: string, args: readonly string[], wanted: RegExp) => {
    const ran = await zuul(command, ...args);
    expect(note(command, ran, String(wanted))).toMatch(wanted);
    expect(ran.ok, ran.output).toBe(true);
  };
  const refused = async (command: string, args: readonly string[], wanted: RegExp) => {
    const ran = await zuul(command, ...args);
    expect(note(command, ran, String(wanted))).toMatch(wanted);
    expect(ran.ok, ran.output).toBe(false);
  };

  await world.propose('A');
  await world.runs('unit: A');
  world.release(/./);
  await world.leaves('A', 'SUCCESS', 'check');
  const [build] = await world.api.get<readonly { readonly uuid: string }[]>('/api/tenant/tenant-one/builds');
  await works('builds', [...PROJECT, '--pipeline', 'check', '--result', 'SUCCESS'], /unit.*SUCCESS/s);
  await works('build-info', [...TENANT, '--uuid', build?.uuid ?? ''], /SUCCESS/);
  const branch = [...PROJECT, '--pipeline', 'check', '--branch', 'master'];
  await works('job-graph', branch, /unit/);
  await works('freeze-job', [...branch, '--job', 'unit'], /unit/);
  const secret = path.join(path.dirname(world.config), 'secret.txt');
  await writeFile(secret, 'open sesame');
  await works('encrypt', [...PROJECT, '--infile', secret], /!encrypted\/pkcs1-oaep/);

  await works('manage-events', [...TENANT, 'pause-trigger', '--reason', 'release'], /^(?!.*rror)/s);
  await world.propose('B');
  await world.decided('B', 'drained', 'release (alice (operators))');
  await works('manage-events', [...TENANT, 'normal'], /^(?!.*rror)/s);
  await world.runs('unit: B');
  await refused('manage-events', [...TENANT, 'discard-trigger'], /never discarded/);

  await works('enqueue', [...PROJECT, '--pipeline', 'gate', '--change', 'master/A'], /^(?!.*rror)/s);
  await world.runs('unit: B', 'unit: A');
  await refused('enqueue', [...PROJECT, '--pipeline', 'gate', '--change', 'master/none'], /has no change/);
  await works('enqueue', [...PROJECT, '--pipeline', 'gate', '--change', 'master/B'], /^(?!.*rror)/s);
  await world.runs('unit: B', 'unit: A', 'unit: A B');
  await works('promote', [...TENANT, '--pipeline', 'gate', '--changes', 'master/B'], /^(?!.*rror)/s);
  await world.runs('unit: B', 'unit: B', 'unit: B A');
  await works('dequeue', [...PROJECT, '--pipeline', 'gate', '--change', 'master/A'], /^(?!.*rror)/s);
  await world.leaves('A', 'DEQUEUED');
  await works(
    'enqueue-ref',
    [...PROJECT, '--pipeline', 'check', '--ref', 'refs/heads/master'],
    /^(?!.*rror)/s,
  );
  await world.observer.until('master in check', () => world.queued('check').length > 1);

  await works('node-list', TENANT, /^(?!.*rror)/s);
  await works('nodeset-request-list', TENANT, /^(?!.*rror)/s);
  await refused('node-set-state', [...TENANT, '1', 'hold'], /Node 1 not found/);
  await refused('nodeset-request-delete', [...TENANT, '1'], /Nodeset request 1 not found/);
  const hold = ['--job', 'unit', '--reason', 'look', '--count', '1', '--change', 'master/A'];
  await works('autohold', [...PROJECT, ...hold], /^(?!.*rror)/s);
  await works('autohold-list', TENANT, /0000000000.*unit.*change master\/A.*look/s);
  await works('autohold-info', [...TENANT, '0000000000'], /0000000000.*org\/project.*unit.*look/s);
  await works('autohold-delete', [...TENANT, '0000000000'], /^(?!.*rror)/s);
  await refused('autohold-info', [...TENANT, '0000000000'], /Hold request 0000000000 not found/);
  world.free();
  process.stdout.write(`\n${table.join('\n')}\n`);
  expect(new Set(table.map(line => line.split(' ')[0])).size).toBe(18);
});
