/** Changes that can only land together: a cycle of `Depends-On` lines, a topic. All of them, or none. */
import { expect } from 'vitest';
import type { FakeChange } from '../fake/world.ts';
import { ourMessages, verified } from './change-outcomes.ts';
import { gerritLayout } from './gerrit-layout.ts';
import { type GerritWorld, gerritStory } from './gerrit-world.ts';

const PROJECTS = ['acme/app', 'acme/library', 'acme/app', 'acme/library', 'acme/app'] as const;

function layout(...queue: readonly string[]): string {
  return gerritLayout({ queue: ['allow-circular-dependencies: true', ...queue] });
}

/** Each names the next one, and the last one the first. */
async function pushCycle(world: GerritWorld): Promise<readonly FakeChange[]> {
  const { gerrit } = world;
  const changes: FakeChange[] = [];
  for (const project of PROJECTS.slice(0, 3)) changes.push(await world.push({ project }));
  for (const [at, change] of changes.entries()) {
    const next = changes[(at + 1) % changes.length] ?? change;
    const url = `${gerrit.url}/c/${next.project.name}/+/${next.number}`;
    await gerrit.amend(change, { message: `Change ${change.number}\n\nDepends-On: ${url}\n` });
  }
  return changes;
}

async function pushTopic(world: GerritWorld): Promise<readonly FakeChange[]> {
  const changes: FakeChange[] = [];
  for (const project of PROJECTS) changes.push(await world.push({ project, topic: 'login' }));
  return changes;
}

async function approveAll(world: GerritWorld, changes: readonly FakeChange[]): Promise<void> {
  for (const change of changes) await world.approve(change);
}

const statusOf = (changes: readonly FakeChange[]) => changes.map(({ now }) => now.status);

gerritStory(
  'a cycle of three over two projects is one item, and all of it is submitted',
  { layout: layout() },
  async world => {
    const changes = await pushCycle(world);
    world.free();
    await approveAll(world, changes);
    for (const change of changes) await world.leaves(change, 'SUCCESS');
    expect(statusOf(changes)).toEqual(['MERGED', 'MERGED', 'MERGED']);
    expect(world.gerrit.count('changes/submit')).toBe(3);
  },
);

gerritStory(
  'a cycle that fails its test lands nothing, and each of its changes says so',
  { layout: layout() },
  async world => {
    const changes = await pushCycle(world);
    const [, second] = changes;
    if (second !== undefined) world.fail('unit', second);
    world.free();
    await approveAll(world, changes);
    for (const change of changes) await world.leaves(change, 'FAILURE');
    expect(statusOf(changes)).toEqual(['NEW', 'NEW', 'NEW']);
    for (const change of changes) await world.observer.until('the vote', () => verified(change) === -2);
    expect(world.gerrit.count('changes/submit')).toBe(0);
  },
);

gerritStory(
  'Gerrit refuses the second of a cycle after the first was merged: every report names what landed and what did not',
  { layout: layout(), expectedTrouble: [/landed/, /a vote was not taken/] },
  async world => {
    const changes = await pushCycle(world);
    world.free();
    await approveAll(world, changes.slice(0, 2));
    world.gerrit.faults.add({ operation: 'changes/submit', does: { kind: 'after', what: async () => {} } });
    world.gerrit.faults.add({
      operation: 'changes/submit',
      does: { kind: 'status', status: 409, message: 'a hook said no' },
      times: 10,
    });
    await approveAll(world, changes.slice(2));
    for (const change of changes) await world.leaves(change, 'MERGE_FAILURE');
    expect(statusOf(changes).toSorted()).toEqual(['MERGED', 'NEW', 'NEW']);
    for (const change of changes) {
      await world.observer.until('the report', () => /landed/.test(ourMessages(change).at(-1) ?? ''));
      expect(ourMessages(change).at(-1)).toMatch(/a hook said no/);
    }
  },
);

gerritStory(
  'a topic of five that Gerrit submits as a whole lands by one submit',
  { layout: layout(), fake: { submitWholeTopic: true } },
  async world => {
    const changes = await pushTopic(world);
    world.free();
    await approveAll(world, changes);
    for (const change of changes) await world.leaves(change, 'SUCCESS');
    expect(new Set(statusOf(changes))).toEqual(new Set(['MERGED']));
    expect(world.gerrit.count('changes/submit')).toBe(1);
  },
);

gerritStory(
  'a topic of five lands one by one where only the queue has it so, after all votes',
  { layout: layout('dependencies-by-topic: true') },
  async world => {
    const changes = await pushTopic(world);
    world.free();
    await approveAll(world, changes);
    for (const change of changes) await world.leaves(change, 'SUCCESS');
    expect(new Set(statusOf(changes))).toEqual(new Set(['MERGED']));
    expect(world.gerrit.count('changes/submit')).toBe(5);
  },
);

gerritStory(
  'a change of the topic that is not approved keeps all of them out',
  { layout: layout(), fake: { submitWholeTopic: true } },
  async world => {
    const changes = await pushTopic(world);
    world.free();
    await approveAll(world, changes.slice(1));
    const [first] = changes;
    await world.observer.until('all to be checked', () => changes.every(each => verified(each) === 1));
    expect(new Set(statusOf(changes))).toEqual(new Set(['NEW']));
    expect(world.gerrit.count('changes/submit')).toBe(0);
    if (first !== undefined) await world.approve(first);
    for (const change of changes) await world.leaves(change, 'SUCCESS');
    expect(new Set(statusOf(changes))).toEqual(new Set(['MERGED']));
  },
);
