/** The stream breaks, or all of Gerrit is restarted, while changes are in the gate: what happened meanwhile is found. */
import { expect } from 'vitest';
import { itemsOf } from './change-outcomes.ts';
import { gerritStory } from './gerrit-world.ts';

const TROUBLE = [/host|Gerrit|trouble|later|stream/i];

gerritStory(
  'what happened while the stream was cut is found, and nothing is done twice',
  { expectedTrouble: TROUBLE },
  async world => {
    const { gerrit, ssh } = world;
    const [stays, goes] = [await world.push(), await world.push()];
    for (const change of [stays, goes]) await world.gate(change);
    await world.runs('unit: 1', 'unit: 1 2');
    ssh.network.refuse(true);
    ssh.network.drop();
    await gerrit.abandon(goes);
    const pushed = await world.push();
    const approved = await world.push();
    await world.approve(approved);
    ssh.network.refuse(false);
    await world.leaves(goes, 'DEQUEUED');
    await world.observer.until('the approved one to enter the gate', () => world.item(approved));
    await world.observer.until('the pushed one to be checked', () => world.item(pushed, 'check'));
    world.free();
    for (const change of [stays, approved]) await world.leaves(change, 'SUCCESS');
    await world.leaves(pushed, 'SUCCESS', 'check');
    const counts = await Promise.all([stays, goes, approved].map(change => itemsOf(world, change, 'gate')));
    expect(counts.map(items => items.length)).toEqual([1, 1, 1]);
    // The traces say how each was found.
    const foundBy = (number: number) =>
      world.sink.spans.flatMap(({ name, attributes }) =>
        name.startsWith('GerritEvent') && attributes['vcs.change.id'] === String(number)
          ? [attributes['gatehouse.event.found_by']]
          : [],
      );
    await world.observer.until('the traces of the events', () => foundBy(goes.number).includes('catch-up'));
    expect(foundBy(stays.number)).toContain('stream');
    expect(foundBy(pushed.number)).toContain('catch-up');
    expect([stays, goes, pushed, approved].map(({ now }) => now.status)).toEqual([
      'MERGED',
      'ABANDONED',
      'NEW',
      'MERGED',
    ]);
  },
);

gerritStory(
  'a restart of Gerrit in the gate loses nothing, nor does one of the service meanwhile',
  { expectedTrouble: TROUBLE },
  async world => {
    const { gerrit, ssh } = world;
    const [first, second] = [await world.push(), await world.push()];
    for (const change of [first, second]) await world.gate(change);
    await world.runs('unit: 1', 'unit: 1 2');
    ssh.network.refuse(true);
    ssh.network.drop();
    gerrit.faults.add({ times: 1_000_000, does: { kind: 'reset' } });
    world.release(/^unit: 1$/);
    await world.observer.until(
      'the first to wait for its host',
      () => world.item(first)?.state.name === 'host',
    );
    await world.restart();
    gerrit.faults.heal();
    ssh.network.refuse(false);
    world.free();
    for (const change of [first, second]) await world.leaves(change, 'SUCCESS');
    expect([first, second].map(({ now }) => now.status)).toEqual(['MERGED', 'MERGED']);
    expect(gerrit.count('changes/submit')).toBe(2);
    // The stream is open again.
    const third = await world.push();
    await world.leaves(third, 'SUCCESS', 'check');
  },
);
