/** A real OpenID provider on this machine, and a person who signs in there on the page. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';
import type { Page } from 'playwright-core';

/** Lines of a site's settings by which tokens of the issuer count. */
export function authSection(issuer: string, more: readonly string[] = []): readonly string[] {
  return [
    ...['[auth company]', 'driver = OpenIDConnect', 'realm = company', `issuer_id = ${issuer}`],
    ...['client_id = gate', ...more],
  ];
}

/** How Zuul's page signs in; ours takes a code. */
const ZUUL_FLOW = 'id_token token';

/** Takes any name for the user's; alice is of the group ci. `open` makes it, once the page's address is known. */
export async function startProvider() {
  let provider: Provider | undefined;
  const server = createServer((request, response) => provider?.callback()(request, response));
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    issuer,
    /** @param seconds that its tokens last. */
    open(page: string, seconds = 600) {
      provider = new Provider(issuer, {
        clients: [
          {
            ...{ client_id: 'gate', token_endpoint_auth_method: 'none' },
            ...{ response_types: ['code', ZUUL_FLOW], grant_types: ['authorization_code', 'implicit'] },
            // Native: others may not sign in at an address without TLS in that flow.
            ...{ application_type: 'native', redirect_uris: [`${page}/auth_callback`] },
          },
        ],
        responseTypes: ['code', ZUUL_FLOW],
        clientBasedCORS: () => true,
        conformIdTokenClaims: false,
        claims: { openid: ['sub'], profile: ['groups'] },
        findAccount: (_: unknown, sub: string) => ({
          accountId: sub,
          claims: async () => ({ sub, groups: sub === 'alice' ? ['ci'] : [] }),
        }),
        cookies: { keys: ['a key of the test'] },
        ttl: {
          AccessToken: seconds,
          IdToken: seconds,
          AuthorizationCode: 60,
          Grant: 600,
          Interaction: 600,
          Session: 600,
        },
      });
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

/** From a page that offers it, to the same page again. */
export async function signIn(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('[name=login]').fill(name);
  await page.locator('[name=password]').fill('any');
  await page.locator('[type=submit]').click();
  await page.getByRole('button', { name: 'Continue' }).click();
}
