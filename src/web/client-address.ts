/**
 * The client of a request, used for limits only. It grants no authority (auth/caller.ts).
 *
 * `X-Forwarded-For: <client>, <proxy>, …` is read from its end, as long as the entry was written by a proxy that the settings
 * trust. Entries a client forges at the beginning are ignored.
 */
import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';
import { type AddressRanges, plainAddress } from '../lib/address-ranges.ts';

/** @returns an IPv4 address, or the first half of an IPv6 address: one client has all of a /64. */
export function clientOf({ socket, headers }: IncomingMessage, trusted: AddressRanges): string {
  const forwarded = [headers['x-forwarded-for'] ?? []].flat().join(',').split(',');
  let address = socket.remoteAddress ?? '';
  while (trusted.has(address)) {
    const next = withoutPort(forwarded.pop()?.trim() ?? '');
    if (next === '') break;
    address = next;
  }
  return networkOf(address);
}

/** `10.0.0.1:4711` and `[::1]:4711`, as some proxies write. */
function withoutPort(text: string): string {
  return /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
}

/** `2001:db8::1` → `2001:db8:0:0`. */
export function networkOf(given: string): string {
  const address = plainAddress(given.replace(/%.*$/, ''));
  if (!isIPv6(address)) return address;
  const [head = '', tail] = address.split('::');
  const groups = head === '' ? [] : head.split(':');
  const behind = tail === undefined || tail === '' ? [] : tail.split(':');
  // An IPv4 address at the end stands for two groups.
  const length = groups.length + behind.length + (address.includes('.') ? 1 : 0);
  const zeros = tail === undefined ? [] : new Array<string>(Math.max(0, 8 - length)).fill('0');
  return [...groups, ...zeros, ...behind]
    .slice(0, 4)
    .map(group => Number.parseInt(group, 16).toString(16))
    .join(':');
}
