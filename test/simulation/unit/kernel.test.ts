import { describe, expect, test } from 'vitest';
import { Kernel } from '../kernel/kernel.ts';
import { SimProcess } from '../kernel/process.ts';
import { stream } from '../kernel/random.ts';

function living(name: string): SimProcess {
  const process = new SimProcess(name);
  process.generation = 1;
  process.alive = true;
  return process;
}

describe('the kernel of the simulation', () => {
  test('runs events in the order of virtual time, with all that follows from one before the next', async () => {
    const kernel = new Kernel(1);
    const seen: string[] = [];
    kernel.after(20, undefined, 'b', () => seen.push('b'));
    kernel.after(10, undefined, 'a', () => {
      seen.push('a');
      void Promise.resolve()
        .then(() => Promise.resolve())
        .then(() => seen.push('after a'));
    });
    expect(await kernel.run(() => false, 100)).toBe('idle');
    expect(seen).toEqual(['a', 'after a', 'b']);
    expect(kernel.now).toBe(20);
  });

  test('draws the order of simultaneous events from the seed', async () => {
    const orders = await Promise.all(
      [1, 2, 3, 4, 5, 6].map(async seed => {
        const kernel = new Kernel(seed);
        const seen: number[] = [];
        for (const each of [1, 2, 3, 4, 5]) kernel.after(1, undefined, 'same time', () => seen.push(each));
        await kernel.run(() => false, 10);
        return seen.join('');
      }),
    );
    expect(new Set(orders).size).toBeGreaterThan(1);
  });

  test('holds what belongs to a paused process, and lets it happen all at once', async () => {
    const kernel = new Kernel(1);
    const process = living('p');
    const seen: number[] = [];
    for (const ms of [10, 20, 30]) kernel.after(ms, process, 'its own', () => seen.push(kernel.now));
    process.paused = true;
    kernel.after(100, undefined, 'continue', () => kernel.resume(process));
    await kernel.run(() => false, 200);
    expect(seen).toEqual([100, 100, 100]);
  });

  test('drops what belongs to a dead process', async () => {
    const kernel = new Kernel(1);
    const process = living('p');
    let happened = false;
    kernel.after(10, process, 'its own', () => {
      happened = true;
    });
    kernel.kill(process);
    await kernel.run(() => false, 100);
    expect(happened).toBe(false);
  });

  test('gives every concern a stream of its own', () => {
    const first = stream(7, 'faults');
    const draws = [first.next(), first.next(), first.next()];
    const again = stream(7, 'faults');
    stream(7, 'delays').next();
    expect([again.next(), again.next(), again.next()]).toEqual(draws);
    expect(stream(8, 'faults').next()).not.toBe(draws[0]);
  });
});
