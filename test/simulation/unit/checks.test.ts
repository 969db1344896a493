/** The checks see what is wrong: each is shown a small history that breaks its rule. */
import { describe, expect, test } from 'vitest';
import { storePaths } from '../../../src/store/paths.ts';
import { check, create, remove, set } from '../../../src/store/port.ts';
import { Fences } from '../checks/fences.ts';
import { share } from '../checks/share.ts';
import { Kernel } from '../kernel/kernel.ts';
import { stream } from '../kernel/random.ts';
import { StoreServer } from '../store/server.ts';

const paths = storePaths('/gatehouse');
const places = paths.pipeline('acme', 'gate');

function fenced() {
  const server = new StoreServer(new Kernel(1), stream(1, 'server'));
  const complaints: string[] = [];
  const fences = new Fences(
    server,
    paths,
    (invariant, text) => complaints.push(`${invariant}: ${text}`),
    () => {},
  );
  server.observers.push(transaction => fences.committed(transaction));
  const [a, b] = [server.open('a', 6_000), server.open('b', 6_000)];
  for (const path of [
    '/gatehouse',
    paths.tenants,
    paths.tenant('acme').base,
    paths.tenant('acme').pipelines,
    places.base,
  ])
    server.byHand([create(path)]);
  for (const path of [places.lock, places.epoch, places.items]) server.byHand([create(path)]);
  /** Takes the lock and raises the epoch. */
  function take(session: typeof a, guid: string): { readonly lock: string; readonly epoch: number } {
    const [made] = server.write(session, [
      create(`${places.lock}/${guid}-${session.id}-lock-`, undefined, { ephemeral: true, sequential: true }),
    ]);
    const lock = made?.path ?? '';
    const [raised] = server.write(session, [set(places.epoch, new TextEncoder().encode(lock))]);
    return { lock, epoch: raised?.version ?? 0 };
  }
  return { server, a, b, take, complaints };
}

describe('the check of fences', () => {
  test('is content with a holder who checks lock and epoch', () => {
    const { server, a, take, complaints } = fenced();
    const { lock, epoch } = take(a, 'x');
    server.write(a, [check(lock), check(places.epoch, epoch), create(`${places.items}/1`)]);
    expect(complaints).toEqual([]);
  });

  test('notices a write of a process that does not hold the lock', () => {
    const { server, a, b, take, complaints } = fenced();
    take(a, 'x');
    server.write(b, [create(`${places.items}/1`)]);
    expect(complaints.join()).toMatch(/I9: b \(session .*\) wrote to pipeline gate/);
  });

  test('notices a write that did not check', () => {
    const { server, a, take, complaints } = fenced();
    const { lock } = take(a, 'x');
    server.write(a, [check(lock), create(`${places.items}/1`)]);
    server.write(a, [remove(`${places.items}/1`)]);
    expect(complaints.join()).toMatch(/without checking its epoch/);
    expect(complaints.join()).toMatch(/without checking its lock/);
  });

  test('notices a holder who did not raise the epoch', () => {
    const { server, a, b, take, complaints } = fenced();
    const first = take(a, 'x');
    server.write(a, [check(first.lock), check(places.epoch, first.epoch), create(`${places.items}/1`)]);
    server.end(a);
    const [made] = server.write(b, [
      create(`${places.lock}/y-${b.id}-lock-`, undefined, { ephemeral: true, sequential: true }),
    ]);
    server.write(b, [check(made?.path ?? ''), check(places.epoch, first.epoch), create(`${places.items}/2`)]);
    expect(complaints.join()).toMatch(/under the epoch of/);
    expect(complaints.join()).toMatch(/two sessions wrote under epoch/);
  });
});

describe('sharing what reads the same', () => {
  test('gives back the very objects that did not change, also where they moved', () => {
    const before = {
      uuid: 'item',
      buildset: { uuid: 'b1', builds: [{ uuid: 'x', state: 'done' }] },
      earlier: [],
    };
    const after = share(before, {
      uuid: 'item',
      buildset: { uuid: 'b2', builds: [] },
      earlier: [{ uuid: 'b1', builds: [{ uuid: 'x', state: 'done' }] }],
    });
    expect(after.earlier[0]).toBe(before.buildset);
    expect(share(before, structuredClone(before))).toBe(before);
    expect(share(before, { ...structuredClone(before), uuid: 'other' })).not.toBe(before);
  });
});
