/** A private tenant is read with a token of a real OpenID provider, which changes its keys meanwhile. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair } from 'jose';
import { Provider } from 'oidc-provider';
import { afterAll, expect } from 'vitest';
import { layoutWith } from './layouts.ts';
import { story } from './story.ts';

const SECRET = 'secret-of-the-client';
const layout = layoutWith('\n- job: {name: unit}\n- project: {name: org/project, check: {jobs: [unit]}}\n', {
  check: true,
});

/** Serves a provider in which the client `gate` gets tokens about itself; `rotate` gives it another key. */
async function startProvider() {
  let provider: Provider | undefined;
  const server = createServer((request, response) => provider?.callback()(request, response));
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const resource = {
    ...{ scope: '', audience: 'gate', accessTokenFormat: 'jwt', accessTokenTTL: 600 },
    jwt: { sign: { alg: 'RS256' } },
  };
  let keys = 0;
  async function rotate(): Promise<void> {
    const { privateKey } = await generateKeyPair('RS256', { extractable: true });
    const key = { ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig', kid: `key-${++keys}` };
    provider = new Provider(issuer, {
      jwks: { keys: [key] },
      clients: [
        {
          ...{ client_id: 'gate', client_secret: SECRET, grant_types: ['client_credentials'] },
          ...{ redirect_uris: [], response_types: [] },
        },
      ],
      features: {
        clientCredentials: { enabled: true },
        devInteractions: { enabled: false },
        resourceIndicators: { enabled: true, getResourceServerInfo: () => resource },
      },
      ttl: { ClientCredentials: 600 },
      extraTokenClaims: () => ({ groups: ['ci'] }),
    });
  }
  await rotate();
  return {
    issuer,
    rotate,
    async token(): Promise<string> {
      const answer = await fetch(`${issuer}/token`, {
        method: 'POST',
        headers: { authorization: `Basic ${Buffer.from(`gate:${SECRET}`).toString('base64')}` },
        body: new URLSearchParams({ grant_type: 'client_credentials', resource: 'urn:gate' }),
      });
      const { access_token: token }: { access_token?: string } = JSON.parse(await answer.text());
      if (token === undefined) throw new Error(`no token: ${answer.status}`);
      return token;
    },
    async close() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

const provider = await startProvider();
afterAll(() => provider.close());

story(
  'a private tenant is read with a token of an OpenID provider, and not with one whose key the provider never had',
  {
    layout,
    moreTenants: ['hidden'],
    moreTenantOptions: ['access-rules: [ci]'],
    tenantStanzas: `- authorization-rule: {name: ci, conditions: [{groups: ci, iss: "${provider.issuer}"}]}\n`,
    sections: [
      '[auth company]',
      'driver = OpenIDConnect',
      'realm = company',
      `issuer_id = ${provider.issuer}`,
      'client_id = gate',
    ],
  },
  async world => {
    const status = async (token: string) => {
      const headers = { authorization: `Bearer ${token}` };
      const answer = await fetch(`${world.api.root}/api/tenant/hidden/status`, { headers });
      await answer.body?.cancel();
      return answer.status;
    };
    const token = await provider.token();
    expect(await status(token)).toBe(200);
    expect(await world.api.get('/api/info')).toMatchObject({
      info: {
        capabilities: {
          auth: {
            realms: {
              company: { authority: provider.issuer, driver: 'OpenIDConnect', scope: 'openid profile' },
            },
          },
        },
      },
    });
    // The keys were read a moment ago: a key that is newer than they are is not asked for yet.
    await provider.rotate();
    expect(await status(await provider.token())).toBe(401);
    expect(await status(token)).toBe(200);
    await world.propose('A');
    world.free();
    await world.leaves('A', 'SUCCESS', 'check');
  },
);
