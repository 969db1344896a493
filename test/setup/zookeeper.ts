/**
 * The real ZooKeeper of this run, for tests.
 *
 *     describeOnZooKeeper('locks', server => {
 *       test('...', async () => { connect to server.port, below a root of your own ... });
 *     });
 *
 * Such tests carry {@link ON_REAL_ZOOKEEPER} in their name. On a machine without a server they are skipped by that name and
 * counted in the last line of the run.
 */
import { describe, inject } from 'vitest';
import { ON_REAL_ZOOKEEPER } from './provided.ts';

export interface SharedZooKeeper {
  readonly host: string;
  readonly port: number;
}

/** False: what needs a server must be skipped, by a name with {@link ON_REAL_ZOOKEEPER} in it. */
export function hasZooKeeper(): boolean {
  return inject('zooKeeper').kind === 'found';
}

/**
 * The server all tests of the run share: use a root node of your own, and never stop it.
 *
 * @throws Error where there is none.
 */
export function sharedZooKeeper(): SharedZooKeeper {
  const provided = inject('zooKeeper');
  if (provided.kind === 'none') throw new Error(`no real ZooKeeper: ${provided.reason}`);
  return provided;
}

/** A `describe` that is skipped, visibly, where there is no server. Its tests may start servers of their own, too. */
export function describeOnZooKeeper(name: string, body: () => void): void {
  describe.skipIf(!hasZooKeeper())(`${name} ${ON_REAL_ZOOKEEPER}`, body);
}
