import { test } from 'vitest';
import { DEADLINE } from './observer.ts';
import { openWorld } from './open-world.ts';
import type { World, WorldSetup } from './world.ts';

/**
 * A test that is told in a world of its own, with room for a loaded machine: what it waits for gives up earlier and says
 * what it was.
 */
export function story(name: string, setup: WorldSetup, tell: (world: World) => Promise<void>): void {
  test(name, { timeout: 4 * DEADLINE }, async () => {
    const world = await openWorld(setup);
    try {
      await tell(world);
      await world.end();
    } finally {
      await world[Symbol.asyncDispose]();
    }
  });
}
