import { expect } from 'vitest';
import { classicLayout } from './layouts.ts';
import { story } from './story.ts';

story(
  'a gate exports its whole story over HTTP as well',
  { layout: classicLayout(), collectorProtocol: 'http' },
  async world => {
    world.free();
    await world.propose('A');
    await world.approve('A');
    await world.leaves('A', 'SUCCESS');
    await world.observer.until('the item to arrive', () =>
      world.sink.spans.some(span => span.attributes['gatehouse.span.type'] === 'QueueItem'),
    );
    expect(new Set(world.sink.requests.map(request => request.path))).toEqual(new Set(['/v1/traces']));
  },
);
