import { test } from 'vitest';
import { ON_REAL_ZOOKEEPER } from '../setup/provided.ts';
import { hasZooKeeper, sharedZooKeeper } from '../setup/zookeeper.ts';
import { DEADLINE } from './observer.ts';
import { openWorld } from './open-world.ts';
import type { SiteStore } from './site.ts';
import type { World, WorldSetup } from './world.ts';

/**
 * A story in a world of its own, on the embedded store. Its time limit leaves room for a loaded machine: the conditions it waits
 * for have shorter deadlines, and name themselves when they pass.
 */
export function story(name: string, setup: WorldSetup, play: (world: World) => Promise<void>): void {
  storyOn(name, () => ({ kind: 'embedded' }), setup, play);
}

/**
 * A story in which the store matters: two tests, one on each store. The conformance suite and the stories of many processes hold
 * ZooKeeper to the contract; a scheduling story does not need to be repeated on it.
 */
export function storyOnBothStores(
  name: string,
  setup: WorldSetup,
  play: (world: World) => Promise<void>,
): void {
  story(name, setup, play);
  const zookeeper = `${name} ${ON_REAL_ZOOKEEPER}`;
  if (hasZooKeeper()) storyOn(zookeeper, freshRoot, setup, play);
  else test.skip(zookeeper, () => {});
}

function storyOn(
  name: string,
  store: () => SiteStore,
  setup: WorldSetup,
  play: (world: World) => Promise<void>,
): void {
  test(name, { timeout: 4 * DEADLINE }, async () => {
    const world = await openWorld(setup, store());
    try {
      await play(world);
      await world.end();
    } finally {
      await world[Symbol.asyncDispose]();
    }
  });
}

let stories = 0;

/** Of the server that all stories of a run share, and other test files, too. */
export function freshRoot(): SiteStore {
  const { host, port } = sharedZooKeeper();
  return { kind: 'zookeeper', host, port, root: `/story-${process.pid}-${++stories}` };
}
