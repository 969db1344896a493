import { describe, expect, test } from 'vitest';
import { ServerRotation } from '../../../../src/store/zookeeper/server-rotation.ts';

const hosts = ['a', 'b', 'c'].map(host => ({ host, port: 2181 }));
const take = (rotation: ServerRotation, count: number) =>
  Array.from({ length: count }, () => rotation.next());

describe('server rotation', () => {
  test('each round tries every server once, without a pause within', () => {
    const tries = take(new ServerRotation(hosts, () => 0.5), 9);
    for (let round = 0; round < 3; round++) {
      const servers = tries.slice(round * 3, round * 3 + 3);
      expect(servers.map(({ server }) => server.host).toSorted()).toEqual(['a', 'b', 'c']);
      expect(servers.slice(1).map(({ delayMs }) => delayMs)).toEqual([0, 0]);
    }
  });

  test('the first try is made at once, rounds are set apart by a doubling pause up to a second', () => {
    const rotation = new ServerRotation(hosts.slice(0, 1), () => 0.999_999);
    const delays = take(rotation, 10).map(({ delayMs }) => Math.round(delayMs));
    expect(delays).toEqual([0, 100, 200, 400, 800, 1000, 1000, 1000, 1000, 1000]);
  });

  test('after a good connection the pauses begin anew, with a short one', () => {
    const rotation = new ServerRotation(hosts, () => 0);
    take(rotation, 20);
    rotation.succeeded();
    const [{ delayMs } = { delayMs: Number.NaN }] = take(rotation, 1);
    expect(delayMs).toBe(25);
  });

  test('the order is one of chance', () => {
    const order = (random: () => number) =>
      take(new ServerRotation(hosts, random), 3).map(({ server }) => server.host);
    expect(order(() => 0)).toEqual(['a', 'b', 'c']);
    expect(order(() => 0.999)).toEqual(['c', 'b', 'a']);
  });

  test('without a server there is nothing to rotate', () => {
    expect(() => new ServerRotation([], () => 0)).toThrow('no server');
  });
});
