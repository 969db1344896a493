/** What is remembered must be what git would list: checked against a graph in memory, which knows all. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { CommitGraph } from '../../../../drivers/git/commit-graph.ts';
import { createGraphMemory } from '../../../../drivers/git/graph-memory.ts';
import { type ObjectId, parseObjectId } from '../../../../src/git/objects/object-id.ts';

let history: Map<ObjectId, readonly ObjectId[]>;
let listings: number;
let read: number;
let beyond: ReturnType<typeof createGraphMemory>;

beforeEach(() => {
  history = new Map();
  listings = 0;
  read = 0;
  beyond = createGraphMemory({
    list(tip, heads, limit) {
      listings += 1;
      const graph = listed(tip, heads);
      return Promise.resolve(graph.size > limit ? undefined : graph);
    },
    parents(commit) {
      read += 1;
      return Promise.resolve(history.get(commit));
    },
  });
});

function commit(...parents: readonly ObjectId[]): ObjectId {
  const id = parseObjectId(history.size.toString(16).padStart(40, '0'));
  history.set(id, parents);
  return id;
}

function reached(from: readonly ObjectId[]): Set<ObjectId> {
  const found = new Set(from);
  for (const each of found) for (const parent of history.get(each) ?? []) found.add(parent);
  return found;
}

/** As `git rev-list --parents heads ^tip`. */
function listed(tip: ObjectId, heads: readonly ObjectId[]): CommitGraph {
  const inside = reached([tip]);
  const outside = [...reached(heads)].filter(each => !inside.has(each));
  return new Map(outside.map(each => [each, history.get(each) ?? []]));
}

async function ask(tip: ObjectId, heads: readonly ObjectId[], limit = 2_000): Promise<void> {
  const graph = await beyond(tip, heads, limit);
  expect(new Map([...(graph ?? [])].toSorted())).toEqual(new Map([...listed(tip, heads)].toSorted()));
}

/** A branch with some history, and changes of two commits each on its tip. */
function proposed(count: number) {
  let tip = commit();
  for (let age = 0; age < 400; age++) tip = commit(tip);
  const heads = Array.from({ length: count }, () => commit(commit(tip)));
  return { tip, heads };
}

describe('nothing is asked of git', () => {
  it('when changes land one by one, all at once, or as they are', async () => {
    const { tip, heads } = proposed(8);
    await ask(tip, heads);
    expect(listings).toBe(0);
    const [a = tip, b = tip, c = tip, d = tip, ...rest] = heads;
    const one = commit(tip, a);
    await ask(one, [b, c, d, ...rest]);
    const three = commit(commit(commit(one, b), c), d);
    await ask(three, rest);
    expect(listings).toBe(0);
    expect(read).toBeLessThan(40);
  });

  it('when the first of a series lands without a merge', async () => {
    const { tip } = proposed(0);
    const first = commit(tip);
    const second = commit(commit(first));
    await ask(tip, [first, second]);
    await ask(first, [second]);
    await ask(first, [first, second]);
    expect(listings).toBe(0);
  });

  it('about a head that the branch has', async () => {
    const { tip, heads } = proposed(2);
    const [a = tip, b = tip] = heads;
    const landed = commit(tip, a);
    await ask(landed, [a, b]);
    await ask(landed, [a, b]);
    expect(listings).toBe(1);
  });

  it('about new proposals on the tip, and on another proposal', async () => {
    const { tip, heads } = proposed(2);
    await ask(tip, heads);
    await ask(tip, [...heads, commit(tip), commit(commit(heads[0] ?? tip))]);
    expect(listings).toBe(0);
  });
});

describe('git lists', () => {
  it('new heads that begin elsewhere, and merges', async () => {
    const { tip, heads } = proposed(3);
    await ask(tip, heads);
    const old = history.get(tip)?.[0] ?? tip;
    await ask(tip, [...heads, commit(old)]);
    await ask(tip, [...heads, commit(heads[0] ?? tip, heads[1] ?? tip)]);
    expect(listings).toBe(2);
  });

  it('all, when the branch was moved back or aside', async () => {
    const { tip, heads } = proposed(3);
    const landed = commit(tip, heads[0] ?? tip);
    await ask(landed, heads);
    const before = listings;
    await ask(commit(history.get(tip)?.[0] ?? tip), heads);
    expect(listings).toBeGreaterThan(before);
  });

  it('all, when the branch took in a long history of its own', async () => {
    const { tip, heads } = proposed(2);
    await ask(tip, heads);
    let foreign = commit();
    for (let age = 0; age < 400; age++) foreign = commit(foreign);
    await ask(
      commit(tip, foreign),
      heads.map(head => commit(head, tip)),
    );
    expect(listings).toBe(1);
    expect(read).toBeLessThan(700);
  });
});

it('more commits than the limit are no answer, also where they are remembered', async () => {
  const { tip, heads } = proposed(5);
  expect(await beyond(tip, heads, 9)).toBeUndefined();
  await ask(tip, heads);
  expect(await beyond(tip, heads, 9)).toBeUndefined();
  await ask(tip, heads.slice(0, 4), 9);
});

it.each([1, 2, 3, 4, 5, 6])('a hundred random moves give what git would list (seed %i)', async seed => {
  let state = seed;
  const random = (below: number) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
  let { tip, heads } = proposed(6);
  for (let move = 0; move < 100; move++) {
    const all = [...history.keys()];
    const any = all[random(all.length)] ?? tip;
    const head = heads[random(heads.length)] ?? any;
    const kind = random(10);
    if (kind < 4) tip = commit(tip, head);
    else if (kind < 5) tip = commit(any, head);
    else if (kind < 6) tip = any;
    else if (kind < 7) tip = commit(tip, any);
    else heads = [...heads.slice(random(2)), commit(...(kind < 9 ? [tip] : [any, head]))];
    if (random(3) > 0) await ask(tip, heads);
  }
});
