/**
 * The simulation notices every rule that is broken on purpose: a check that nothing can fail checks nothing. That it finds nothing
 * wrong with the rules as they are, in any scenario: `simulation.test.ts`.
 */
import { expect, test } from 'vitest';
import { sim } from './run-command.ts';

test('the simulation notices every rule that is broken on purpose', { timeout: 1_200_000 }, async () => {
  const { code, output } = await sim('--patches');
  expect(code === 0 ? [] : output.split('\n').filter(line => line.includes('was not caught'))).toEqual([]);
  expect(code).toBe(0);
});
