/** What a renamed or transferred repository is called now: GitHub redirects to its number. */
import type { Exchange, ExchangeCredential } from './exchange.ts';
import type { GithubCall } from './port.ts';

/**
 * Follows no address: only the number is taken from it.
 *
 * @returns `owner/name`; undefined: the answer does not say.
 */
export async function newNameOf(
  exchange: Exchange,
  location: string | null,
  credential: ExchangeCredential,
  call: GithubCall,
): Promise<string | undefined> {
  const id = /\/repositories\/(\d{1,15})(?:[/?]|$)/.exec(location ?? '')?.[1];
  if (id === undefined) return undefined;
  const answer = await exchange(
    {
      operation: 'repos/get-by-id',
      route: 'GET /repositories/{id}',
      parameters: { id },
      cost: { resource: 'core', isWrite: false, createsContent: false },
      isRepeatable: true,
    },
    credential,
    call,
  );
  if (answer.kind !== 'ok' || typeof answer.data !== 'object' || answer.data === null) return undefined;
  const name: unknown = Reflect.get(answer.data, 'full_name');
  return typeof name === 'string' && /^[\w.-]{1,100}\/[\w.-]{1,100}$/.test(name) ? name : undefined;
}
