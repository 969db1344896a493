import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { expectKind, key, type MergerStage, mergeRequest, openStage } from './merger-stage.ts';

let stage: MergerStage;
beforeEach(async () => {
  stage = await openStage();
  for (const name of ['app', 'lib']) await (await stage.host(name)).commit({ files: { a: '1' } });
});
afterEach(() => stage[Symbol.asyncDispose]());

describe('a merge request that names the items ahead', () => {
  it('goes on past those that conflict, as if they had not been there', async () => {
    const [first, second, third, own] = [
      await stage.propose('app', '1', { x: 'one', y: 'one' }),
      await stage.propose('app', '2', { x: 'two', other: '2' }),
      await stage.propose('app', '3', { y: 'three' }),
      await stage.propose('app', '4', { other: '4' }),
    ];
    const request = mergeRequest([first, second, third, own], { ahead: [1, 1, 1] });
    const outcome = expectKind(await stage.serve(request), 'merged');
    expect(outcome.leftOut).toEqual([
      { item: 1, change: 'local/app#2', project: key('app'), files: ['x'], with: 'local/app#1' },
      { item: 2, change: 'local/app#3', project: key('app'), files: ['y'], with: 'local/app#1' },
    ]);
    expect(outcome.steps.filter(({ result }) => result !== undefined)).toEqual([]);
    const without = expectKind(await stage.serve(mergeRequest([first, own], { ahead: [1] })), 'merged');
    expect(without.leftOut).toBeUndefined();
    expect(outcome.branches).toEqual(without.branches);
    expect(outcome.filesChanged).toEqual([{ project: key('app'), files: ['other'] }]);
  });

  it('reports the own conflict as well', async () => {
    const inputs = [
      await stage.propose('app', '1', { x: 'one' }),
      await stage.propose('app', '2', { x: 'two', y: 'two' }),
      await stage.propose('app', '3', { x: 'three', y: 'three' }),
    ];
    const outcome = expectKind(await stage.serve(mergeRequest(inputs, { ahead: [1, 1] })), 'conflict');
    expect(outcome).toMatchObject({ change: 'local/app#3', files: ['x'], with: 'local/app#1' });
    expect(outcome.leftOut?.map(({ item, change }) => [item, change])).toEqual([[1, 'local/app#2']]);
    expect(outcome.steps.at(-1)).toMatchObject({ kind: 'MergeChanges', result: 'FAILURE' });
  });

  it('leaves an item out of every branch when it conflicts in one', async () => {
    const inputs = [
      await stage.propose('app', '1', { x: 'one' }),
      await stage.propose('lib', '2', { z: 'cycle' }),
      await stage.propose('app', '3', { x: 'cycle' }),
      await stage.propose('lib', '4', { z: 'four' }),
    ];
    const outcome = expectKind(await stage.serve(mergeRequest(inputs, { ahead: [1, 2] })), 'merged');
    expect(outcome.leftOut?.map(({ item, change }) => [item, change])).toEqual([[1, 'local/app#3']]);
    expect(
      outcome.branches.map(({ project, inputs: merged }) => [project, merged?.map(m => m.message)]),
    ).toEqual([
      ['local/app', ['Merge 1']],
      ['local/lib', ['Merge 4']],
    ]);
  });

  it('takes back the first changes of an item whose later one conflicts on the same branch', async () => {
    const inputs = [
      await stage.propose('app', '1', { x: 'one' }),
      await stage.propose('app', '2', { y: 'cycle' }),
      await stage.propose('app', '3', { x: 'cycle' }),
      await stage.propose('app', '4', { y: 'four' }),
    ];
    const outcome = expectKind(await stage.serve(mergeRequest(inputs, { ahead: [1, 2] })), 'merged');
    expect(outcome.leftOut?.map(({ item, change }) => [item, change])).toEqual([[1, 'local/app#3']]);
    expect(outcome.branches[0]?.inputs?.map(({ message }) => message)).toEqual(['Merge 1', 'Merge 4']);
  });

  it('brings no branch that only holds what was left out', async () => {
    const old = await stage.propose('lib', '1', { a: 'old' });
    await (await stage.host('lib')).commit({ files: { a: 'new' } });
    const own = await stage.propose('app', '2', { x: 'two' });
    const outcome = expectKind(await stage.serve(mergeRequest([old, own], { ahead: [1] })), 'merged');
    expect(outcome.branches.map(({ project }) => project)).toEqual(['local/app']);
    expect(outcome.leftOut).toEqual([{ item: 0, change: 'local/lib#1', project: key('lib'), files: ['a'] }]);
  });

  it('lists a few files of each', async () => {
    const many = (text: string) =>
      Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`f${at + 10}`, text]));
    const inputs = [
      await stage.propose('app', '1', many('one')),
      await stage.propose('app', '2', many('two')),
      await stage.propose('app', '3', { other: '3' }),
    ];
    const outcome = expectKind(await stage.serve(mergeRequest(inputs, { ahead: [1, 1] })), 'merged');
    expect(outcome.leftOut?.[0]?.files).toHaveLength(20);
  });

  it('makes each merge once, however many conflict and are asked for together', async () => {
    const inputs = [await stage.propose('app', '0', { x: 'zero' })];
    for (let at = 1; at <= 10; at += 1) inputs.push(await stage.propose('app', `${at}`, { x: `${at}` }));
    inputs.push(await stage.propose('app', '11', { good: 'yes' }));
    const outcomes = await Promise.all(
      inputs.map((_, at) =>
        stage.serve(mergeRequest(inputs.slice(0, at + 1), { ahead: Array<number>(at).fill(1) })),
      ),
    );
    expect(outcomes.map(({ kind }) => kind)).toEqual([
      'merged',
      ...Array<string>(10).fill('conflict'),
      'merged',
    ]);
    const last = expectKind(outcomes[11]!, 'merged');
    expect(last.leftOut?.map(({ item }) => item)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(stage.cache.counters()).toMatchObject({ merges: 12, fetches: 1 });
  });
});
