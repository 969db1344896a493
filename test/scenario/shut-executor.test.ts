/** An executor whose machine has enough to do takes nothing, and where people look they find the sensor. */
import { expect } from 'vitest';
import type { ComponentsJson } from '../../src/api/components.ts';
import type { Explanation } from '../../src/explain/explain.ts';
import { classicLayout } from './layouts.ts';
import { TENANT } from './site.ts';
import { story } from './story.ts';

story(
  'a change waits for an executor that a sensor keeps from taking builds, and its explanation names the sensor',
  // Some memory is in use everywhere.
  {
    layout: classicLayout(),
    executor: ['min_avail_mem = 99'],
    expectedTrouble: [/taking no work: .* of the memory is available/],
  },
  async world => {
    await world.propose('A');
    await world.approve('A');
    const waiting = await world.observer.until('the build to wait', async () => {
      const item = world.item('A');
      if (item === undefined) return undefined;
      const path = `/api/tenant/${TENANT}/item/${item.uuid}/explain`;
      const explained = await world.api.get<Explanation>(path);
      return explained.executorTroubles.length > 0 ? explained : undefined;
    });
    const named = expect.stringMatching(/^sensor memory: [\d.]+ % of the memory is available/);
    expect(waiting.executorTroubles).toEqual([{ executor: expect.any(String), trouble: named }]);
    const { executor } = await world.api.get<ComponentsJson>('/api/components');
    expect(executor?.[0]?.gatehouse).toMatchObject({ trouble: named });
    expect(await world.api.text('/metrics')).toMatch(
      /gatehouse_executor_shut\{[^}]*sensor="memory"[^}]*\} 1/,
    );
    expect(world.stage.builds).toEqual([]);
    await world.withdraw('A');
    await world.leaves('A', 'FAILURE');
  },
);
