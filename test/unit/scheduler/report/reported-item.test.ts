import { describe, expect, test } from 'vitest';
import { reportedItem } from '../../../../src/scheduler/report/reported-item.ts';
import { itemStory, jobNode } from '../../../fake/queue-item.ts';

const context = { root: 'http://gate.example' };

function itemThatReturned(data: Readonly<Record<string, string>>) {
  const story = itemStory()
    .merge()
    .merged()
    .freeze(Object.keys(data).map(job => jobNode(job)));
  for (const job of Object.keys(data)) story.start(job).finish(job, 'SUCCESS');
  const builds = story.item.buildset.builds.map(build => {
    const { state, job } = build;
    const returned = { data: { text: data[job] ?? '' } };
    return state.state === 'completed' ? { ...build, state: { ...state, returned } } : build;
  });
  return { ...story.item, buildset: { ...story.item.buildset, builds } };
}

function dataOf(item: ReturnType<typeof itemThatReturned>, withData: boolean) {
  return reportedItem(item, context, withData).builds.map(({ data }) => data);
}

describe('what builds returned', () => {
  test('is in a message that asks for it, and in no other', () => {
    const item = itemThatReturned({ unit: 'one', lint: 'two' });
    expect(dataOf(item, true)).toEqual([{ text: 'one' }, { text: 'two' }]);
    expect(dataOf(item, false)).toEqual([undefined, undefined]);
  });

  test('is left out from the build on that is too much for a message', () => {
    const item = itemThatReturned({ first: 'x'.repeat(200_000), second: 'y'.repeat(100_000), third: 'z' });
    expect(dataOf(item, true).map(data => data !== undefined)).toEqual([true, false, false]);
  });
});
