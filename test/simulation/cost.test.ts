/**
 * What a landed change costs does not depend on how many wait with it: a cost that grows with the queue makes a long queue slower
 * than it is long. The counts are those of a run in virtual time, so they are the same on any machine.
 */
import { expect, test } from 'vitest';
import type { Cost } from './cost.ts';
import { sim } from './run-command.ts';

/**
 * Of a ratio. What a turn, a reading of the host or a push takes in at once differs a little, and what names every change that waits is
 * packed. With the whole chain in the item the bytes come to 1.22.
 */
const SLACK = 1.15;

async function costAmong(count: number): Promise<Cost> {
  const { code, output } = await sim('--cost', String(count));
  expect(code === 0 ? '' : output).toBe('');
  return JSON.parse(output) as Cost;
}

test('a landed change costs as many writes, bytes and requests among 60 as among 20', {
  timeout: 600_000,
}, async () => {
  const [few, many] = [await costAmong(20), await costAmong(60)];
  expect(few.transactions).toBeGreaterThan(10);
  expect(few.requests).toBeGreaterThan(1);
  for (const count of ['transactions', 'bytes', 'bytesRead', 'requests', 'pushes'] as const)
    expect.soft(many[count] / few[count], `${count}: ${JSON.stringify({ few, many })}`).toBeLessThan(SLACK);
});
