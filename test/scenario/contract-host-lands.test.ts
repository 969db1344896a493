/** A host that merges by itself, each time in a commit of its own that was not tested: the gate goes on as if it had pushed. */
import { expect } from 'vitest';
import { contractLayout, contractOf, landedAtHost, mergesAsked } from './contract-host-stories.ts';
import { story } from './story.ts';

const TWENTY = Array.from({ length: 20 }, (_, index) => `T${index + 1}`);

story(
  'a gate of twenty lands twenty with one round of tests each, in commits the host makes',
  { layout: contractLayout('merge'), contractHost: true },
  async world => {
    for (const topic of TWENTY) await world.propose(topic);
    for (const topic of TWENTY) await world.approve(topic);
    await world.observer.until('all to be tested at once', () => world.observer.running().length === 20);
    world.free();
    for (const topic of TWENTY) expect((await world.leaves(topic, 'SUCCESS')).resets, topic).toBe(0);
    expect(await landedAtHost(world)).toEqual(TWENTY);
    expect(mergesAsked(world)).toEqual(TWENTY);
    expect(await world.history()).toHaveLength(20);
    expect(world.stage.builds).toHaveLength(20);
    const [, tested] = world.stage.builds;
    const tip = await world.developer('org/project').git('rev-parse', 'master');
    expect(JSON.stringify(tested?.variables)).not.toContain(tip);

    // Events of the host's own merge commits are recognised as ours and linked to the items.
    const causes = () =>
      new Set(world.sink.spans.map(span => span.attributes['gatehouse.link.caused_by'])).difference(
        new Set([undefined]),
      );
    await world.observer.until('the landings to be linked', () => causes().size === 20);
  },
);

story(
  'a host that squashes, serves stale reads, and doubles and swaps deliveries costs no reset',
  {
    layout: contractLayout('squash'),
    contractHost: true,
    expectedTrouble: [/could not report/, /could not be processed; trying again/, /waits for the code host/],
  },
  async world => {
    const topics = ['A', 'B', 'C', 'D'];
    const { faults } = contractOf(world);
    for (const topic of topics) await world.propose(topic, topic === 'B' ? { on: 'A' } : {});
    for (const topic of topics) await world.approve(topic);
    await world.observer.until('all to be tested at once', () => world.observer.running().length === 4);
    faults.lag = 2;
    let held: Parameters<typeof faults.deliver>[0][] = [];
    faults.deliver = delivery => {
      if (held.length === 0) {
        held = [delivery];
        return [];
      }
      const swapped = [delivery, ...held, delivery];
      held = [];
      return swapped;
    };
    world.free();
    for (const topic of topics) expect((await world.leaves(topic, 'SUCCESS')).resets, topic).toBe(0);
    expect(await landedAtHost(world)).toEqual(topics);
    expect(mergesAsked(world)).toEqual(topics);
    expect(world.stage.builds).toHaveLength(4);
  },
);
