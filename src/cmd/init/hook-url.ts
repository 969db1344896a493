/** Where the hook of a repository on this machine reaches the web. Pure. */
import type { WebSettings } from '../../settings/settings.ts';

/** Addresses that mean every interface: a client asks one. */
const ANY: ReadonlyMap<string, string> = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
]);

/** Not at `[web] root`, which may lead through a proxy. */
export function hookUrl(
  { listenAddress, port }: Pick<WebSettings, 'listenAddress' | 'port'>,
  connection: string,
): string {
  const address = ANY.get(listenAddress) ?? listenAddress;
  const host = address.includes(':') ? `[${address}]` : address;
  return `http://${host}:${port}/api/connection/${encodeURIComponent(connection)}/payload`;
}
