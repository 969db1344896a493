/** How long builds wait for hosts that are out of service, and what is said when that is over. */
import { expect, test } from 'vitest';
import { addMilliseconds, type Nanoseconds, parseNanoseconds } from '../../../src/lib/clock.ts';
import { derivedUuid } from '../../../src/lib/ids.ts';
import type { HostState, StaticHost } from '../../../src/model/static-host.ts';
import { strandedBuilds } from '../../../src/nodes/stranded-builds.ts';

const START = parseNanoseconds('1795000000000000000');
const at = (minutes: number): Nanoseconds => addMilliseconds(START, minutes * 60_000);
const HOUR = 3_600_000;

function row(name: string, state?: HostState, labels = ['debian']) {
  const host: StaticHost = {
    ...{ name, labels, address: name, port: 22, username: 'zuul', maxParallelJobs: 1 },
    ...{ privateKey: '/key', hostKeys: ['ssh-ed25519 AAAA'] },
  };
  return state === undefined ? { host } : { host, state };
}
const ill = (minutes: number, reason = 'it does not answer'): HostState => ({
  trouble: { reason, since: at(minutes), tries: 3, retryAt: at(minutes + 60) },
});
const held = (minutes: number): HostState => ({ held: { reason: 'a new disk', since: at(minutes) } });

const UUID = derivedUuid('build');
function build(minutes: number, ...labels: readonly string[]) {
  const nodes = labels.map((label, index) => ({ name: `node${index}`, label }));
  const of = { pipeline: 'gate', item: UUID, buildset: UUID };
  return { uuid: UUID, wanted: { tenant: 'acme', of, requestedAt: at(minutes), nodes } };
}

test('a build waits for the limit from when nothing could serve it any more, or from its request', () => {
  const rows = [row('one', ill(10)), row('two', held(30)), row('three', undefined, ['arm'])];
  const asked = (requested: number, now: number) =>
    strandedBuilds([build(requested, 'debian')], rows, HOUR, at(now));
  expect(asked(0, 89)).toEqual({ due: new Map(), next: 60_000 });
  expect([...asked(0, 90).due.values()]).toEqual([
    'no host for its nodes was in service for 1h 00m: two: held: a new disk; one: it does not answer',
  ]);
  expect(asked(80, 90)).toEqual({ due: new Map(), next: 50 * 60_000 });
  expect(asked(80, 140).due.size).toBe(1);
});

test('of two nodes it counts from the host without which there was one too few', () => {
  const rows = [row('one', ill(10)), row('two', ill(40)), row('three')];
  const asked = (now: number) => strandedBuilds([build(0, 'debian', 'debian')], rows, HOUR, at(now)).due.size;
  expect([asked(99), asked(100)]).toEqual([0, 1]);
});

test('one that hosts in service can serve waits without limit, and so does one that no host fits', () => {
  const rows = [row('one', ill(0)), row('two')];
  const waiting = [build(0, 'debian'), build(0, 'sparc')];
  expect(strandedBuilds(waiting, rows, HOUR, at(10_000))).toEqual({ due: new Map(), next: undefined });
});

test('a thousand hosts make no long text', () => {
  const rows = Array.from({ length: 1000 }, (_, index) => row(`host${index}`, ill(0, 'x'.repeat(5000))));
  const [text = ''] = strandedBuilds([build(0, 'debian')], rows, HOUR, at(60)).due.values();
  expect(text.length).toBeLessThan(1000);
  expect(text).toMatch(/; 995 more$/);
});
