import { expect } from 'vitest';
import { classicLayout } from './layouts.ts';
import { storyOnBothStores } from './story.ts';

storyOnBothStores(
  'a collector that is down does not hold up the gate, and gets every span when it is back',
  { layout: classicLayout(), collectorDown: true, expectedTrouble: [/the collector does not take spans/] },
  async world => {
    world.free();
    await world.propose('A');
    await world.approve('A');
    await world.leaves('A', 'SUCCESS');
    await world.propose('B');
    await world.approve('B');
    await world.leaves('B', 'SUCCESS');
    expect(world.sink.spans).toEqual([]);
    await world.observer.until('the service to have tried', () => world.sink.requests.length > 0);
    await world.observer.until(
      'the problem to be shown',
      () => (world.observer.view()?.tracing?.problem ?? null) !== null,
    );
    expect(world.observer.view()?.tracing?.waiting).toBeGreaterThan(0);

    world.sink.answerAlways({ kind: 'ok' });
    const roots = () =>
      world.sink.spans.filter(span => span.attributes['gatehouse.span.type'] === 'QueueItem');
    await world.observer.until('both items to arrive', () => roots().length === 2);
  },
);
