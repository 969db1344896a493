import { describe, expect, it } from 'vitest';
import { explainItem } from '../../../src/explain/explain.ts';
import { stretchesOf } from '../../../src/explain/stretches.ts';
import { itemsWaitedFor } from '../../../src/explain/waited-for.ts';
import { derivedUuid } from '../../../src/lib/ids.ts';
import type { QueueItem } from '../../../src/model/queue-item.ts';
import { at, itemStory } from '../../fake/queue-item.ts';

/** Merges for a second, then tests until 50 s. */
const ahead = itemStory({ seed: 'ahead', state: 'merge' })
  .merge()
  .wait(1000)
  .merged()
  .freeze(['slow'])
  .wait(500)
  .start('slow')
  .wait(48_498.5)
  .finish('slow', 'SUCCESS')
  .complete('SUCCESS')
  .report('success')
  .wait(100);

/** Waited for it from 10 s to 20 s and from 30 s to 51 s, and for another one in between. */
function waiting(): QueueItem {
  const { item } = itemStory();
  const wait = (seconds: number, whom: QueueItem['uuid'], subject: string) =>
    ({ state: 'change-ahead', since: at(seconds * 1000), subject, item: whom }) as const;
  const other = derivedUuid('other');
  return {
    ...item,
    timeline: [
      ...item.timeline,
      wait(10, ahead.item.uuid, 'the slow one'),
      wait(20, other, 'another'),
      wait(30, ahead.item.uuid, 'the slow one'),
    ],
  };
}

describe('whom an item waited for', () => {
  it('is listed with its states meanwhile, longest first', () => {
    const others = new Map([[ahead.item.uuid, ahead.item]]);
    const { waitedFor } = explainItem(waiting(), at(51_000), { others });
    expect(waitedFor).toEqual([
      {
        item: ahead.item.uuid,
        change: 'the slow one',
        state: 'change-ahead',
        duration: '31000000000',
        meanwhile: [
          { state: 'running', duration: '30000000000' },
          { state: 'reporting', duration: '1000000000' },
        ],
      },
      {
        item: derivedUuid('other'),
        change: 'another',
        state: 'change-ahead',
        duration: '10000000000',
        meanwhile: [],
      },
    ]);
  });

  it('is who must be looked up, each once', () => {
    expect(itemsWaitedFor(stretchesOf(waiting(), at(51_000)))).toEqual([
      ahead.item.uuid,
      derivedUuid('other'),
    ]);
  });

  it('is empty for records without uuids', () => {
    const story = itemStory().enter('change-ahead', 'acme/app master/other').wait(1000);
    expect(explainItem(story.item, story.now).waitedFor).toEqual([]);
  });
});

describe('what the scheduler let pass', () => {
  it('is a wait of its own, with the state it was in', () => {
    const story = itemStory({ state: 'merge' }).wait(2000).merge().wait(500).merged();
    expect(
      stretchesOf(story.item, story.now).map(({ state, kind, subject, duration }) => [
        state,
        kind,
        subject,
        Number(duration) / 1e6,
      ]),
    ).toEqual([
      ['scheduler', 'wait', 'merge', 2000],
      ['merge', 'work', undefined, 500],
    ]);
  });
});
