/** The status of a long queue, whole and in pages. */
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { StatusDocument } from '../../../src/api/status-schema.ts';
import { sharedMaking } from '../../../src/web/shared-making.ts';
import { type FakeWeb, fakeWeb } from './fake-web.ts';
import { type LongGate, longGate } from './long-gate.ts';

let web: FakeWeb;
let gate: LongGate;
beforeEach(async () => {
  web = await fakeWeb();
  gate = longGate(250);
  web.change(gate.snapshot);
});
afterEach(() => web.close());

async function status(query = ''): Promise<StatusDocument> {
  return (await fetch(`${web.url}/api/tenant/main/status${query}`)).json() as Promise<StatusDocument>;
}

const shown = ({ pipelines }: StatusDocument) =>
  pipelines.flatMap(({ change_queues }) =>
    change_queues.flatMap(({ heads }) => heads.flat().map(({ id }) => id)),
  );

describe('the status', () => {
  it('is whole for who asks as clients of Zuul do', async () => {
    expect(shown(await status())).toEqual(gate.uuids);
    expect(shown(await status('?_=1795000000'))).toEqual(gate.uuids);
  });

  it('is served in pages, which together are the whole', async () => {
    const pages = await Promise.all(
      ['?limit=100', '?limit=100&skip=100', '?limit=100&skip=200', '?limit=100&skip=300'].map(status),
    );
    expect(pages.map(page => shown(page).length)).toEqual([100, 100, 50, 0]);
    expect(pages.flatMap(shown)).toEqual(gate.uuids);
    for (const { pipelines } of pages)
      expect(pipelines.find(({ name }) => name === 'gate')?.gatehouse.items).toBe(250);
    // What is behind an item is named although it is on the next page.
    const last = pages[0]?.pipelines.flatMap(
      ({ change_queues }) => change_queues[0]?.heads.flat().at(-1) ?? [],
    );
    expect(last?.[0]?.items_behind).toEqual([gate.uuids[100]]);
  });

  it('has one pipeline where that is asked for, with a hundred items', async () => {
    const { pipelines } = await status('?pipeline=gate');
    expect(pipelines.map(({ name }) => name)).toEqual(['gate']);
    expect(shown(await status('?pipeline=gate'))).toEqual(gate.uuids.slice(0, 100));
    expect(shown(await status('?pipeline=check'))).toEqual([]);
  });

  it.each(['limit=0', 'limit=1001', 'skip=-1', 'limit=many'])('refuses %s', async query => {
    const response = await fetch(`${web.url}/api/tenant/main/status?${query}`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ place: expect.stringContaining('query parameter') });
  });
});

describe('a large answer', () => {
  it('is made once for all who ask while it is made, and one after the other for different ones', async () => {
    const share = sharedMaking<number>();
    const begun: string[] = [];
    const ends = new Map<string, () => void>();
    const make = (key: string) => () =>
      new Promise<number>(resolve => {
        begun.push(key);
        ends.set(key, () => resolve(begun.length));
      });
    const first = [share('a', make('a')), share('a', make('a'))];
    const other = share('b', make('b'));
    await turn();
    expect(begun).toEqual(['a']);
    ends.get('a')?.();
    expect(await Promise.all(first)).toEqual([1, 1]);
    await turn();
    expect(begun).toEqual(['a', 'b']);
    ends.get('b')?.();
    expect(await other).toBe(2);
    const again = share('a', make('a'));
    await turn();
    ends.get('a')?.();
    expect(await again).toBe(3);
  });

  it('that cannot be made fails those who wait for it, and is made again for the next', async () => {
    const share = sharedMaking<string>();
    const failing = () => Promise.reject(new Error('out of reach'));
    await expect(share('a', failing)).rejects.toThrow('out of reach');
    expect(await share('a', async () => 'made')).toBe('made');
  });
});
