import { createSecretKey } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { runProgram } from '../../../src/cmd/commands/program.ts';
import { fromMilliseconds } from '../../../src/lib/clock.ts';
import { readAuthKeys } from '../../../src/settings/auth-keys.ts';
import { readSettings } from '../../../src/settings/read-settings.ts';
import { tokenVerifier } from '../../../src/web/auth/token.ts';
import { NOW, recordingIo } from './fixture.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'gatehouse-token-'));
afterAll(() => rmSync(directory, { recursive: true }));

const SECRET = 'a secret that is long enough for it';
const file = path.join(directory, 'gatehouse.conf');
writeFileSync(
  file,
  `[scheduler]
tenant_config=tenants.yaml
[auth operators]
driver=HS256
realm=gate.example.org
issuer_id=gatehouse
client_id=gate.example.org
secret=%(SECRET)s
uid_claim=name
allow_authz_override=true
max_validity_time=8h
[auth readers]
driver=HS256
realm=readers
issuer_id=readers
client_id=gate.example.org
secret=%(SECRET)s
[auth company]
driver=RS256
realm=company
issuer_id=https://login.example.org
client_id=gate.example.org
public_key=login.pem
`,
  { mode: 0o600 },
);

async function create(...args: readonly string[]) {
  const io = recordingIo({ SECRET });
  const status = await runProgram(['create-auth-token', '-c', file, ...args], io);
  return { status, out: io.out(), err: io.err() };
}

test('needs nothing of other sections', async () => {
  const other = path.join(directory, 'other-sections.conf');
  const hooks =
    '[connection local]\ndriver=git\nbaseurl=/srv/git\nwebhook_token=%(GATEHOUSE_WEBHOOK_TOKEN)s\n';
  writeFileSync(other, `${readFileSync(file, 'utf8')}${hooks}[web]\nport=http\n`, { mode: 0o600 });
  const io = recordingIo({ SECRET });
  const args = ['create-auth-token', '-c', other, '--auth-conf', 'operators', ...ALICE];
  expect({ status: await runProgram(args, io), err: io.err() }).toEqual({ status: 0, err: '' });
  expect(io.out()).toMatch(/^Bearer \S+\n$/);
});

const ALICE = ['--tenant', 'acme', '--user', 'alice'];

function verify(output: string, laterMs = 0) {
  const read = readSettings(file, { SECRET });
  if (read.kind === 'invalid') throw new Error(read.errors.join('\n'));
  const keys = readAuthKeys(read.settings.auth.filter(({ name }) => name === 'operators'));
  if (keys.kind === 'invalid') throw new Error(keys.errors.join('\n'));
  const [realm] = keys.realms;
  expect(realm?.key.kind === 'key' && realm.key.key.equals(createSecretKey(Buffer.from(SECRET)))).toBe(true);
  const clock = { now: () => fromMilliseconds(NOW + laterMs), monotonic: () => 0 };
  return tokenVerifier(keys.realms, clock, () => {}).verify(output.replace(/^Bearer /, '').trim());
}

test('a token made here counts at the service, for as long as it says', async () => {
  const { status, out } = await create('--auth-conf', 'operators', ...ALICE, '--expires-in', '15m');
  expect(status).toBe(0);
  expect(out).toMatch(/^Bearer [\w-]+\.[\w-]+\.[\w-]+\n$/);
  expect(await verify(out, 14 * 60_000)).toMatchObject({
    kind: 'user',
    user: { name: 'alice', realm: 'gate.example.org', tenants: ['acme'] },
  });
  expect(await verify(out, 16 * 60_000)).toMatchObject({ reason: 'the token has expired' });
});

test('it may be for several tenants, and lasts ten minutes by default', async () => {
  const { out } = await create('--auth-conf', 'operators', ...ALICE, '--tenant', 'other');
  expect(await verify(out, 599_000)).toMatchObject({ user: { tenants: ['acme', 'other'] } });
  expect(await verify(out, 601_000)).toMatchObject({ kind: 'invalid' });
});

test.each([
  [
    'a section that is not there',
    ['--auth-conf', 'operator'],
    /no section \[auth operator\], did you mean "operators"\?/,
  ],
  ['a section whose tokens another issuer makes', ['--auth-conf', 'company'], /come from https:\/\/login/],
  ['a section that may not grant', ['--auth-conf', 'readers'], /lacks allow_authz_override = true/],
  [
    'more time than its section allows',
    ['--auth-conf', 'operators', '--expires-in', '9h'],
    /max_validity_time is 28800 s/,
  ],
])('%s gives no token', async (_what, args, expected) => {
  const { status, out, err } = await create(...args, ...ALICE);
  expect([status, out]).toEqual([1, '']);
  expect(err).toMatch(expected);
  expect(err).not.toContain(SECRET);
});

test.each([
  [['--auth-conf', 'operators', '--user', 'alice'], /--tenant/],
  [['--auth-conf', 'operators', ...ALICE, '--expires-in', 'soon'], /It must be a duration/],
])('what is not understood is said', async (args, expected) => {
  const { status, err } = await create(...args);
  expect(status).toBe(2);
  expect(err).toMatch(expected);
});
