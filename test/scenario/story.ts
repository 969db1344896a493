import { test } from 'vitest';
import { ON_REAL_ZOOKEEPER } from '../setup/provided.ts';
import { hasZooKeeper, sharedZooKeeper } from '../setup/zookeeper.ts';
import { DEADLINE } from './observer.ts';
import { openWorld } from './open-world.ts';
import type { SiteStore } from './site.ts';
import type { World, WorldSetup } from './world.ts';

/**
 * A story that must be true whatever the store: two tests, each told in a world of its own, with room for a loaded machine: what
 * it waits for gives up earlier and says what it was.
 */
export function story(name: string, setup: WorldSetup, tell: (world: World) => Promise<void>): void {
  storyOn(name, () => ({ kind: 'embedded' }), setup, tell);
  const zookeeper = `${name} ${ON_REAL_ZOOKEEPER}`;
  if (hasZooKeeper()) storyOn(zookeeper, freshRoot, setup, tell);
  else test.skip(zookeeper, () => {});
}

/** A story that is about something else than the store: told once, on the embedded one. */
export function storyOnce(name: string, setup: WorldSetup, tell: (world: World) => Promise<void>): void {
  storyOn(name, () => ({ kind: 'embedded' }), setup, tell);
}

function storyOn(
  name: string,
  store: () => SiteStore,
  setup: WorldSetup,
  tell: (world: World) => Promise<void>,
): void {
  test(name, { timeout: 4 * DEADLINE }, async () => {
    const world = await openWorld(setup, store());
    try {
      await tell(world);
      await world.end();
    } finally {
      await world[Symbol.asyncDispose]();
    }
  });
}

let stories = 0;

/** Of the server that all stories of a run share, and other test files, too. */
function freshRoot(): SiteStore {
  const { host, port } = sharedZooKeeper();
  return { kind: 'zookeeper', host, port, root: `/story-${process.pid}-${++stories}` };
}
