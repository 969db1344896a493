import type { HostLater } from '../../../src/driver/host-later.ts';

/** What came of some requests: a value, or GitHub did not serve one of them. */
export type Asked<T> =
  | { readonly kind: 'answered'; readonly value: T }
  | { readonly kind: 'later'; readonly later: HostLater };
