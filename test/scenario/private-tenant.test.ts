/** Two tenants with the same projects, one of them private: a token decides who sees what became of a change there. */
import { SignJWT } from 'jose';
import { expect } from 'vitest';
import { layoutWith } from './layouts.ts';
import { story } from './story.ts';
import type { World } from './world.ts';

const SECRET = 'a secret of the scenario that is long enough';
const layout = layoutWith('\n- job: {name: unit}\n- project: {name: org/project, check: {jobs: [unit]}}\n', {
  notes: false,
  check: true,
});

function tokenWith(claims: { readonly [name: string]: unknown }): Promise<string> {
  return new SignJWT({ iss: 'us', aud: 'gatehouse', sub: 'alice', ...claims })
    .setProtectedHeader({ alg: 'HS256' })
    .setExpirationTime('1h')
    .sign(Buffer.from(SECRET));
}

async function get(world: World, path: string, token?: string) {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const response = await fetch(`${world.api.root}${path}`, { headers });
  return { status: response.status, text: await response.text() };
}

story(
  'a private tenant shows its changes, logs and keys to those whom its rules fit, and is no other’s to know of',
  {
    layout,
    moreTenants: ['hidden'],
    moreTenantOptions: ['access-rules: [readers]', 'admin-rules: [admins]'],
    tenantStanzas: `- authorization-rule:
    name: readers
    conditions: [{groups: "readers-of-{tenant.name}"}]
- authorization-rule:
    name: admins
    conditions: [{zuul_uid: root}]
`,
    sections: [
      '[auth people]',
      'driver = HS256',
      'realm = people',
      'issuer_id = us',
      'client_id = gatehouse',
      `secret = ${SECRET}`,
    ],
  },
  async world => {
    const reader = await tokenWith({ groups: ['readers-of-hidden'] });
    const stranger = await tokenWith({ groups: ['readers-of-tenant-one'] });
    const admin = await tokenWith({ sub: 'root' });
    await world.propose('A');
    await world.observer.until('both tenants to test A', async () => {
      const { text } = await get(world, '/api/tenant/hidden/status/change/master/A', reader);
      return text.startsWith('[{') ? true : undefined;
    });
    expect(JSON.parse((await get(world, '/api/tenants')).text)).toMatchObject([{ name: 'tenant-one' }]);
    expect(JSON.parse((await get(world, '/api/tenants', reader)).text)).toHaveLength(2);
    for (const path of ['status', 'builds', 'events', 'key/org/project.pub', 'nothing']) {
      expect((await get(world, `/api/tenant/hidden/${path}`)).status).toBe(401);
      expect((await get(world, `/api/tenant/hidden/${path}`, stranger)).status).toBe(403);
    }
    expect((await get(world, '/api/tenant/absent/status', stranger)).text).toBe(
      (await get(world, '/api/tenant/hidden/status', stranger)).text.replaceAll('hidden', 'absent'),
    );
    expect(JSON.parse((await get(world, '/api/tenant/hidden/authorizations', admin)).text)).toEqual({
      zuul: { admin: true, permissions: { admin: true }, scope: ['hidden'] },
    });
    const dequeue = (token: string) =>
      fetch(`${world.api.root}/api/tenant/hidden/project/org/project/dequeue`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ pipeline: 'check', change: 'master/A' }),
      });
    expect((await dequeue(reader)).status).toBe(403);
    expect((await dequeue(admin)).status).toBe(200);
    world.free();
    await world.leaves('A', 'SUCCESS', 'check');
    await world.observer.until('A to leave the private tenant', async () => {
      const { text } = await get(world, '/api/tenant/hidden/items', reader);
      return text.includes('DEQUEUED') ? true : undefined;
    });
    expect((await get(world, '/metrics')).status).toBe(401);
    expect((await get(world, '/metrics', reader)).text).toContain('hidden');
  },
);
