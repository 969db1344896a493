/** What the tabs of one browser share. Loaded apart: the browser's types are not ours. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

interface Message {
  readonly kind: string;
  readonly tenant?: string;
}

class FakeStream {
  isOpen = false;
  connected = false;
  opened = 0;
  readonly send: (message: Message) => void;
  constructor(send: (message: Message) => void) {
    this.send = send;
  }
  open(): void {
    if (!this.isOpen) this.opened += 1;
    this.isOpen = true;
  }
  close(): void {
    this.isOpen = false;
  }
  snapshot(): Message | undefined {
    return this.opened > 0 ? { kind: 'snapshot' } : undefined;
  }
}

let made: Map<string, FakeStream>;
let join: (send: (message: Message) => void) => (message: Message) => void;

beforeEach(async () => {
  vi.useFakeTimers();
  made = new Map();
  const { SharedStreams } = await import(
    new URL('../../../src/web/page/shared-streams.ts', import.meta.url).href
  );
  const streams = new SharedStreams((tenant: string, send: (message: Message) => void) => {
    const stream = new FakeStream(send);
    made.set(tenant, stream);
    return stream;
  });
  join = send => streams.join(send);
});
afterEach(() => void vi.useRealTimers());

function openTab(tenant: string) {
  const received: string[] = [];
  const say = join(message => received.push(message.kind));
  say({ kind: 'follow', tenant });
  say({ kind: 'seen' });
  return { received, say };
}

const open = () => [...made].filter(([, stream]) => stream.isOpen).map(([tenant]) => tenant);

test('tabs of a tenant share a stream, and one that comes later gets what the others have', () => {
  const [first, second] = [openTab('acme'), openTab('acme')];
  expect(made.get('acme')?.opened).toBe(1);
  expect([first.received, second.received]).toEqual([[], ['snapshot']]);
  made.get('acme')?.send({ kind: 'update' });
  expect([first.received, second.received]).toEqual([['update'], ['snapshot', 'update']]);
});

test('a stream is closed a moment after the last tab was hidden, and opened again at once', () => {
  const [first, second] = [openTab('acme'), openTab('acme')];
  first.say({ kind: 'hidden' });
  vi.advanceTimersByTime(3000);
  expect(open()).toEqual(['acme']);
  second.say({ kind: 'hidden' });
  vi.advanceTimersByTime(1000);
  expect(open()).toEqual(['acme']);
  vi.advanceTimersByTime(1100);
  expect(open()).toEqual([]);
  first.say({ kind: 'seen' });
  expect([open(), made.get('acme')?.opened]).toEqual([['acme'], 2]);
});

test('a tab that says nothing any more counts as hidden, one that leaves as gone', () => {
  openTab('acme');
  vi.advanceTimersByTime(44_000);
  expect(open()).toEqual(['acme']);
  vi.advanceTimersByTime(2000);
  expect(open()).toEqual([]);

  const beta = openTab('beta');
  beta.say({ kind: 'leave' });
  expect(open()).toEqual([]);
});

test('of many tenants side by side the four seen last are live', () => {
  for (const tenant of ['a', 'b', 'c', 'd', 'e', 'f']) {
    openTab(tenant);
    vi.advanceTimersByTime(10);
  }
  expect(open()).toEqual(['c', 'd', 'e', 'f']);
});
