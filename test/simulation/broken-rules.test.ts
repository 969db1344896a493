/** The simulation notices every rule that is broken on purpose: a check that nothing can fail checks nothing. */
import { expect, test } from 'vitest';
import { sim } from './run-command.ts';

test('the simulation finds nothing wrong with the rules as they are, where most of the broken ones are caught', async () => {
  const { code, output } = await sim('--calm', '--seeds', '1', '--scenario', 'single-change');
  expect(code === 0 ? '' : output).toBe('');
});

test('the simulation notices every rule that is broken on purpose', { timeout: 1_200_000 }, async () => {
  const { code, output } = await sim('--patches');
  expect(code === 0 ? [] : output.split('\n').filter(line => line.includes('was not caught'))).toEqual([]);
  expect(code).toBe(0);
});
