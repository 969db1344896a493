/** Sets of IP addresses, written as addresses and CIDR ranges: `127.0.0.1`, `10.0.0.0/8`, `2001:db8::/32`. */
import { BlockList, isIP } from 'node:net';

/** A set of addresses from the configuration, e.g. the proxies that the web trusts. Text that is no address is in no set. */
export interface AddressRanges {
  /** IPv4-mapped IPv6 addresses (`::ffff:10.0.0.1`) are IPv4 addresses. */
  has(address: string): boolean;
}

/** Whether it is an address or a range. */
export function isAddressRange(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  const version = isIP(address);
  if (version === 0 || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}

/** @param ranges each {@link isAddressRange}. */
export function addressRanges(ranges: readonly string[]): AddressRanges {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', bits] = range.split('/');
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return {
    has(given) {
      const address = plainAddress(given);
      const version = isIP(address);
      return version !== 0 && list.check(address, version === 4 ? 'ipv4' : 'ipv6');
    },
  };
}

/** `::ffff:10.0.0.1` → `10.0.0.1`; others as they are. */
export function plainAddress(address: string): string {
  return /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i.exec(address)?.[1] ?? address;
}
