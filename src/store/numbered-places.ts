/**
 * Below which nodes the store numbers the names: a copied name there must not collide with a later number.
 *
 * Decided by place, not by the form of a name: a delivery id, a key or a project may well end with ten digits. Locks and
 * components are numbered too, but end with their sessions and are never copied. `doc/zookeeper-map.md` marks the places
 * with `p n`, and a test compares.
 */
const NUMBERED = [
  /^events\/connection\/[^/]+\/(queue|questions)(-dead)?$/,
  /^events\/tenant\/[^/]+\/(trigger|management|ticks|internal)(-dead)?$/,
  /^tenants\/[^/]+\/pipelines\/[^/]+\/events(-dead)?$/,
  /^requests\/[^/]+\/[^/]+\/queue$/,
  /^outbox\/(spans|history|(reports|messages)\/[^/]+\/[^/]+)$/,
  /^landings$/,
  /^quarantine$/,
];

/** ZooKeeper's numbers are signed, of 32 bits. */
const HIGHEST = 2 ** 31 - 1;

/**
 * The number the store gave to a node.
 *
 * @param place path of the parent below the root of the installation, such as `outbox/spans`.
 * @returns undefined when names at this place are not numbered, or this one is not.
 */
export function numberOf(place: string, name: string): number | undefined {
  const [, digits] = /(?:^|-)(\d{10})$/.exec(name) ?? [];
  if (digits === undefined || !NUMBERED.some(pattern => pattern.test(place))) return undefined;
  const number = Number(digits);
  return number <= HIGHEST ? number : undefined;
}
