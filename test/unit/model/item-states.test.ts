/** One table of item states: what people read, and what every room derives from it. */
import { describe, expect, test } from 'vitest';
import { derivedSpanId, spanIdOf, type Uuid } from '../../../src/lib/ids.ts';
import { widthOf } from '../../../src/lib/text-width.ts';
import {
  ITEM_STATES,
  isOwnGap,
  isWait,
  rowOfState,
  STRETCH_STATES,
  type StateRow,
  type StretchState,
} from '../../../src/model/item-states.ts';
import { derivableIds } from '../../../src/tracing/spans/derivable-ids.ts';

describe('the table of item states', () => {
  test('does not compile without a row for every state', () => {
    const { window: _left, ...rest } = ITEM_STATES;
    // @ts-expect-error: `window` has no row.
    const incomplete: { readonly [state in StretchState]: StateRow } = rest;
    const { word: _word, ...wordless } = ITEM_STATES.merge;
    // @ts-expect-error: a row without its word.
    const short: StateRow = wordless;
    expect([Object.keys(incomplete).length, short.mark]).toEqual([STRETCH_STATES.length - 1, '○']);
  });

  test.each(STRETCH_STATES)('has a short word of its own for %s', state => {
    const { word, mark } = ITEM_STATES[state];
    expect(widthOf(word)).toBeLessThanOrEqual(16);
    expect(widthOf(mark)).toBe(1);
    expect(STRETCH_STATES.filter(other => ITEM_STATES[other].word === word)).toEqual([state]);
  });

  test('names the item or the connection that is waited for, and says something without it', () => {
    const subjects = ['hold-following', 'change-ahead', 'needed-change', 'host', 'semaphore'] as const;
    for (const state of subjects) {
      const { now, past } = ITEM_STATES[state];
      expect([now('app login'), past('app login')]).toEqual([
        expect.stringContaining('app login'),
        expect.stringContaining('app login'),
      ]);
      expect(`${now()} ${past(null)}`).not.toMatch(/undefined|null/);
    }
  });

  test('lets the name of an unknown state be its word', () => {
    expect(rowOfState('resources')).toMatchObject({ word: 'resources', role: 'wait' });
    expect(rowOfState('toString').word).toBe('toString');
  });

  test('decides which span ids a job may not take', () => {
    const uuid = '3f2a91c0000000000000000000000001' as Uuid;
    const ids = derivableIds({ item: uuid, buildset: uuid, jobName: 'unit' }, spanIdOf(uuid));
    for (const state of STRETCH_STATES)
      expect(ids.has(derivedSpanId(spanIdOf(uuid), `Wait ${state}`, 3)), state).toBe(
        isWait(state) && !isOwnGap(state),
      );
  });
});
