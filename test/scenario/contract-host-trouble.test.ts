/** What goes wrong at a host that merges by itself. */
import { expect } from 'vitest';
import { addMilliseconds, systemClock } from '../../src/lib/clock.ts';
import { HostError } from '../fake/contract-host/faults.ts';
import { contractLayout, contractOf, landedAtHost, mergesAsked } from './contract-host-stories.ts';
import { story } from './story.ts';

story(
  'a merge whose reply is lost is found done, and what the host refuses to merge holds up nothing behind it',
  {
    layout: contractLayout('merge'),
    contractHost: true,
    expectedTrouble: [/could not report/],
  },
  async world => {
    for (const topic of ['refused', 'behind']) await world.propose(topic);
    for (const topic of ['refused', 'behind']) await world.approve(topic);
    await world.runs('unit: refused', 'unit: refused behind');
    contractOf(world).faults.fail('merge', () => new HostError(405, 'the branch is closed'), 1);
    world.release(/refused$/);
    await world.leaves('refused', 'MERGE_FAILURE');
    await world.runs('unit: behind');
    expect(world.item('behind')?.resets.map(({ code }) => code)).toEqual(['item-ahead-not-merged']);
    world.release(/./);
    await world.leaves('behind', 'SUCCESS');

    for (const topic of ['A', 'B']) await world.propose(topic);
    for (const topic of ['A', 'B']) await world.approve(topic);
    await world.runs('unit: A', 'unit: A B');
    contractOf(world).faults.loseReply();
    world.free();
    for (const topic of ['A', 'B']) expect((await world.leaves(topic, 'SUCCESS')).resets).toBe(0);
    expect(await landedAtHost(world)).toEqual(['behind', 'A', 'B']);
    expect(mergesAsked(world)).toEqual(['refused', 'behind', 'A', 'B']);
  },
);

story(
  'a limit that the host names is waited out in the state host, and then all land',
  {
    layout: contractLayout('merge'),
    contractHost: true,
    expectedTrouble: [/could not report/, /waits for the code host/],
  },
  async world => {
    await world.propose('A');
    await world.approve('A');
    await world.runs('unit: A');
    const until = addMilliseconds(systemClock().now(), 4_000);
    contractOf(world).faults.fail('merge', () => new HostError(429, 'too many requests', until), 1);
    world.free();
    const waiting = await world.observer.until('A to wait', () => world.item('A')?.hostWait ?? undefined);
    expect(waiting).toMatchObject({ doing: 'report', reason: 'limited' });
    const { uuid, resets } = await world.leaves('A', 'SUCCESS');
    expect(resets).toBe(0);
    expect(mergesAsked(world)).toEqual(['A', 'A']);
    const ofItem = () => world.sink.spans.filter(span => span.traceId === uuid);
    const merges = () => ofItem().filter(({ name }) => name === 'HostMerge local');
    const asked = () =>
      merges().map(({ spanId }) =>
        ofItem()
          .filter(({ parentSpanId }) => parentSpanId === spanId)
          .map(({ attributes }) => [attributes['gatehouse.query'], attributes['http.response.status_code']]),
      );
    await world.observer.until('both attempts to be drawn', () => asked().flat().length >= 5);
    expect(asked()).toEqual([
      [
        ['read', 200],
        ['merge', 429],
      ],
      [
        ['read', 200],
        ['merge', 200],
        ['comment', 200],
      ],
    ]);
  },
);

story(
  'a push between the read and the merge makes the host land something else: the items behind are tested again, and the log has an error',
  {
    layout: contractLayout('merge'),
    contractHost: true,
    expectedTrouble: [
      /^error .* landed on master of local\/org\/project as .* is not the tested .*"landed-tree-differs"/,
    ],
  },
  async world => {
    const developer = world.developer('org/project');
    for (const topic of ['A', 'B', 'C']) await world.propose(topic);
    for (const topic of ['A', 'B', 'C']) await world.approve(topic);
    await world.runs('unit: A', 'unit: A B', 'unit: A B C');
    const { faults } = contractOf(world);
    faults.beforeMerge = async () => {
      faults.beforeMerge = async () => {};
      const foreign = await developer.commit({ files: { 'foreign.txt': 'x' }, message: 'Past the gate' });
      await developer.push(foreign, 'refs/heads/master');
    };
    world.release(/unit: A$/);
    await world.leaves('A', 'SUCCESS');
    await world.observer.until('B to be tested again', () => world.item('B')?.resets.length === 1);
    expect(world.item('B')?.resets[0]).toMatchObject({
      code: 'landed-tree-differs',
      text: expect.stringContaining('master/A'),
    });
    expect((await world.decisions('A')).map(({ code }) => code)).toContain('landed-tree-differs');
    expect(world.log.trouble.join('\n')).toContain('landed-tree-differs');
    world.free();
    for (const topic of ['B', 'C']) expect((await world.leaves(topic, 'SUCCESS')).resets).toBe(1);
    expect(await landedAtHost(world)).toEqual(['A', 'B', 'C']);
  },
);
