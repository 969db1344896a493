/**
 * The simulation within `npm test`: a few dozen seeds, and a sample of the crash points. Thousands of runs:
 * `npm run sim`. Each command runs in a process of its own, because the platform's clock and chance are replaced in it.
 */
import { describe, expect, test } from 'vitest';
import { type Ended, sim } from './run-command.ts';

/** What it said, where it did not end well: the seed and how to see it again are in there. */
function expectFine({ code, output }: Ended): void {
  expect(code === 0 ? '' : output).toBe('');
}

function traceOf({ output }: Ended): string {
  return /trace ([0-9a-f]{8})/.exec(output)?.[1] ?? output;
}

describe('the simulation', () => {
  test('repeats a run exactly, in the same process and in another', { timeout: 300_000 }, async () => {
    const once = await sim('--seed', '6', '--repeat');
    expectFine(once);
    const again = await sim('--seed', '6');
    expect(traceOf(again)).toBe(traceOf(once));
  });

  test('finds nothing in a sample of seeds', { timeout: 900_000 }, async () => {
    expectFine(await sim('--seeds', '15', '--from', '2', '--json'));
  });

  test('finds nothing when nothing goes wrong, in any scenario, nor where processes die or stop at a sample of their calls', {
    timeout: 900_000,
  }, async () => {
    const swept = await sim('--sweep', '--whole', '--stride', '1500', '--offset', '211');
    expectFine(swept);
    expect(swept.output.split('\n').filter(line => line.startsWith('✓'))).toHaveLength(18);
    expect(swept.output).toContain('everything landed in spite of faults');
  });

  test('shows how long the loss of a merger that died over its answer was not noticed', {
    timeout: 300_000,
  }, async () => {
    const answers = ['--label', 'multi delete /requests/merge/default/claimed', '--strike', 'before'];
    const swept = await sim(
      '--sweep',
      '--scenario',
      'single-change',
      ...answers,
      '--stride',
      '2',
      '--offset',
      '9',
    );
    expectFine(swept);
    expect(swept.output).toContain('waited: merger-lost');
  });
});
