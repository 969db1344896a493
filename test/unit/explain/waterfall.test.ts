import { describe, expect, it } from 'vitest';
import { waterfall } from '../../../src/explain/waterfall.ts';
import { toWidth, widthOf } from '../../../src/lib/text-width.ts';
import { itemSpans } from '../../../src/tracing/spans/item-spans.ts';
import { failedStory, resetAndMergedStory } from '../../fake/item-stories.ts';
import { itemStory } from '../../fake/queue-item.ts';

const story = resetAndMergedStory();
const spans = itemSpans(story.item);
const draw = (width: number, colour = false) => waterfall(spans, { width, colour, now: story.now });

/** A terminal's escape sequences for colours. */
const COLOURS = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, 'g');

describe('the waterfall', () => {
  it('shows who waited, what ran and why it was tested again', () => {
    expect(
      waterfall(spans, { width: 100, colour: false, now: story.now, maxDepth: 2 }),
    ).toMatchInlineSnapshot(`
      "                                           0             1m 44s        3m 29s
      QueueItem gate acme/app master/login,ea78… ██████████████████████████████████  3m 29s SUCCESS
      ├ Wait window                              ░░                                     12s
      ├ BuildSet 1                               ████████▎                              50s SUPERSEDED
      │ ├ Merge                                   ▕                                    40ms ✓
      │ ├ Layout                                  ▕                                     1ms
      │ ├ JobGraph                                ▕                                     1ms
      │ ├ Build lint                              ▐█▌                                  9.3s ✓
      │ └ Build unit-tests                        ▐██████▎                              38s CANCELED
      ├ Wait executor                             ░                                   900ms
      ├ Wait window                                      ░                             60ms
      ├ BuildSet 2                                       ██████████████████▏         1m 50s ✓
      │   ↺ tested again: an item ahead failed: unit-tests of acme/app master/broken,deadbeef ended with …
      │ ├ Merge                                          ▏                             22ms ✓
      │ ├ Layout                                         ▏                              1ms
      │ ├ JobGraph                                       ▏                              1ms
      │ ├ Build lint                                     █▍                            7.3s ✓
      │ ├ Build unit-tests                               ███▉                           22s RETRY
      │ ├ Build unit-tests (attempt 2)                      ▐██████████▏             1m 03s ✓
      │ └ Build deploy-preview                                         ████▏            25s ✓
      ├ Wait executor                                    ░                            300ms
      ├ Wait executor                                       ░                          1.8s running
      ├ Wait executor                                                  ░              700ms running
      ├ Wait change-ahead                                                  ░░░░░░░░     48s acme/app mas…
      └ Report success                                                            ▕   230ms ✓
        └ HostMerge local                                                         ▕   199ms ✓"
    `);
  });

  it.each([60, 80, 120, 160])('fits into %i columns', width => {
    for (const line of draw(width).split('\n')) expect(widthOf(line)).toBeLessThanOrEqual(width);
  });

  it('has a line per span and one per cause', () => {
    expect(draw(120).split('\n').length).toBe(1 + spans.length + 1);
  });

  it('draws every span, however short', () => {
    for (const line of draw(120)
      .split('\n')
      .filter(line => line.includes('FreezeJob')))
      expect(line).toMatch(/[▏▕]/);
  });

  it('ends open spans in an arrow at the present', () => {
    const open = itemStory({ state: 'merge' })
      .merge()
      .wait(9)
      .merged()
      .freeze(['a'])
      .wait(300)
      .start('a')
      .wait(700);
    const text = waterfall(itemSpans(open.item), { width: 100, colour: false, now: open.now });
    expect(text.split('\n').filter(line => line.includes('▶') && line.endsWith('open')).length).toBe(3);
  });

  it('paints failures red when colours are wanted, and is otherwise plain', () => {
    const failed = failedStory();
    const picture = (colour: boolean) =>
      waterfall(itemSpans(failed.item), { width: 100, colour, now: failed.now });
    expect(picture(true)).toContain('\u001b[31mFAILURE');
    expect(picture(false)).not.toContain('\u001b');
    const plain = picture(true)
      .replace(COLOURS, '')
      .split('\n')
      .map(line => line.trimEnd());
    expect(plain).toEqual(picture(false).split('\n'));
  });

  it('lets no control character of a name through', () => {
    const evil = { ...spans[0]!, name: 'QueueItem \u001b[2J\u0007\nx' };
    const text = waterfall([evil], { width: 80, colour: false, now: story.now });
    expect(text).not.toContain('\u001b');
    expect(text).not.toContain('\u0007');
    expect(text.split('\n').length).toBe(2);
  });

  it('is empty for no spans', () => {
    expect(waterfall([], { width: 80, colour: false, now: story.now })).toBe('');
  });
});

describe('texts in columns', () => {
  it('are cut and filled to the width they take on screen', () => {
    expect(toWidth('abcdef', 4)).toBe('abc…');
    expect(toWidth('ab', 4, 'right')).toBe('  ab');
    expect(widthOf('日本')).toBe(4);
    expect(toWidth('日本語', 4)).toBe('日… ');
  });
});
