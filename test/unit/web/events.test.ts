import { connect } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { readEvents } from './event-reader.ts';
import { type FakeOptions, type FakeWeb, fakeWeb, sampleSnapshot } from './fake-web.ts';
import { checkItems, gateItems } from './sample-gate.ts';
import { at, uuidOf } from './sample-item.ts';

let web: FakeWeb;
async function start(options: FakeOptions = {}) {
  web = await fakeWeb(options);
  return `${web.url}/api/tenant/main/events`;
}
afterEach(() => web.close());

const withoutHead = () => sampleSnapshot({ gate: gateItems().slice(1), check: checkItems() });

describe('the stream of events', () => {
  test('begins with everything', async () => {
    await using reader = await readEvents(await start());
    const first = await reader.next();

    expect(reader.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(first.event).toBe('snapshot');
    expect(Object.keys(first.data.set).toSorted()).toEqual(
      [
        'tenant',
        'forecast/check',
        'forecast/gate',
        'pipeline/check',
        'pipeline/gate',
        'pipeline/post',
        ...[...gateItems(), ...checkItems()].map(item => `item/${item.uuid}`),
      ].toSorted(),
    );
    expect(first.data.set[`item/${uuidOf('api-v2')}`]).toMatchObject({
      state: { name: 'merge' },
      buildset: { number: 2 },
      dependsOn: ['acme/lib#master/fix-typo'],
    });
    expect(first.data.set.tenant).toMatchObject({ configErrors: 2, tracing: { waiting: 12 } });
  });

  test('has what changed while its first documents were made', async () => {
    const url = await start();
    const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const itemsLeft = web.history.itemsLeft.bind(web.history);
    Object.assign(web.history, {
      async itemsLeft(question: Parameters<typeof itemsLeft>[0]) {
        asked.resolve();
        await answer.promise;
        return itemsLeft(question);
      },
    });
    await using reader = await readEvents(url);
    await asked.promise;
    web.change(withoutHead());
    answer.resolve();
    expect(Object.keys((await reader.next()).data.set)).toContain(`item/${uuidOf('retry-budget')}`);
    expect((await reader.next()).data.gone).toEqual([`item/${uuidOf('retry-budget')}`]);
  });

  test('goes on with what changed and what is gone, and nothing else', async () => {
    await using reader = await readEvents(await start());
    await reader.next();
    web.change(withoutHead());

    const update = await reader.next();
    expect(update.event).toBe('update');
    expect(Object.keys(update.data.set)).toEqual(['pipeline/gate', 'forecast/gate']);
    expect(update.data.gone).toEqual([`item/${uuidOf('retry-budget')}`]);
  });

  test('goes on from the id in the address, as a page that opens it anew can send no header', async () => {
    const url = await start();
    const reader = await readEvents(url);
    const { id } = await reader.next();
    await reader[Symbol.asyncDispose]();
    web.change(withoutHead());

    await using again = await readEvents(`${url}?last-event-id=${encodeURIComponent(id)}`);
    expect(await again.next()).toMatchObject({
      event: 'update',
      data: { gone: [`item/${uuidOf('retry-budget')}`] },
    });
    // A browser that comes back by itself knows better than the address it was given.
    await using later = await readEvents(`${url}?last-event-id=0-0`, id);
    expect(await later.next()).toMatchObject({ event: 'update' });
  });

  test('carries the time of the server, so that pages run their clocks by it', async () => {
    const url = await start();
    await using reader = await readEvents(url);
    const first = await reader.next();
    expect(first.data.now).toBe(Date.UTC(2026, 10, 20, 12, 5));
    web.change(withoutHead());
    await reader.next();

    web.setNow(at(320));
    await using again = await readEvents(url, first.id);
    expect((await again.next()).data.now).toBe(Date.UTC(2026, 10, 20, 12, 5, 20));
  });

  test('is not begun by a request for its headers alone', async () => {
    const response = await fetch(await start(), { method: 'HEAD' });
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('');
  });

  test('is silent when a change makes no difference', async () => {
    await using reader = await readEvents(await start());
    await reader.next();
    web.change(sampleSnapshot());
    web.change(sampleSnapshot());
    web.change(withoutHead());

    expect((await reader.next()).data.gone).toHaveLength(1);
  });

  test('sends a reader that reconnects only what it missed', async () => {
    const url = await start();
    let last = '';
    {
      await using reader = await readEvents(url);
      last = (await reader.next()).id;
    }
    web.change(withoutHead());
    await using again = await readEvents(url, last);

    const missed = await again.next();
    expect(missed.event).toBe('update');
    expect(missed.data.gone).toEqual([`item/${uuidOf('retry-budget')}`]);
  });

  test.each(['other-process-1', 'nonsense', '-', ''])(
    'gives a reader with the unknown id %j everything',
    async id => {
      await using reader = await readEvents(await start(), id);
      expect((await reader.next()).event).toBe('snapshot');
    },
  );

  test('keeps idle proxies awake with comments', async () => {
    await using reader = await readEvents(await start({ sse: { heartbeat: 0.05 } }));
    await reader.next();
    expect(await reader.comment()).toBe(': still here');
  });

  test('refuses readers over the limit of an address and takes new ones when others left', async () => {
    const url = await start({ sse: { maxClientsPerAddress: 1 } });
    {
      await using first = await readEvents(url);
      expect(first.status).toBe(200);
      const second = await fetch(url);
      expect(second.status).toBe(503);
      expect(await second.json()).toEqual({
        error: 'too many readers of live events; try again later',
        description: 'too many readers of live events; try again later',
        place: 'events',
      });
    }
    await expect
      .poll(async () => {
        await using next = await readEvents(url);
        return next.status;
      })
      .toBe(200);
  });

  test('cuts a reader that does not read and leaves the others alone', async () => {
    const url = await start({ sse: { maxBacklogBytes: 10_000 } });
    const slow = connect(Number(new URL(url).port), '127.0.0.1');
    slow.write('GET /api/tenant/main/events HTTP/1.1\r\nHost: x\r\n\r\n');
    slow.pause();
    const cut = new Promise<void>(resolve => slow.on('close', () => resolve()));
    slow.on('error', () => {});
    await using reader = await readEvents(url);
    await reader.next();

    const big = 'x'.repeat(1_000_000);
    const described = (text: string) => {
      const snapshot = sampleSnapshot();
      const pipelines = snapshot.pipelines.map(live => ({
        ...live,
        pipeline: { ...live.pipeline, description: text },
      }));
      return { ...snapshot, pipelines };
    };
    for (const round of [1, 2, 3, 4, 5, 6]) {
      web.change(described(`${round} ${big}`));
      await reader.next();
    }
    // Its end is seen only by one who reads.
    slow.resume();
    await cut;
    web.change(withoutHead());
    expect((await reader.next()).data.gone).toEqual([`item/${uuidOf('retry-budget')}`]);
  });

  test('does not take a big beginning for slowness', async () => {
    const url = await start({ sse: { maxBacklogBytes: 1000, heartbeat: 0.02 } });
    const snapshot = sampleSnapshot();
    const big = 'x'.repeat(4_000_000);
    const pipelines = snapshot.pipelines.map(live => ({
      ...live,
      pipeline: { ...live.pipeline, description: big },
    }));
    web.change({ ...snapshot, pipelines });
    await using reader = await readEvents(url);
    expect((await reader.next(10_000)).event).toBe('snapshot');
    expect(await reader.comment()).toBe(': still here');
  });

  test('ends when the service stops', async () => {
    await using reader = await readEvents(await start());
    await reader.next();
    const closed = web.close();
    await reader.ended();
    await closed;
    web = await fakeWeb();
  });
});
