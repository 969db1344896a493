/**
 * Property tests try the same inputs in every run, so that a run which passed passes again and a failure is there again.
 *
 * New inputs are looked for on purpose: `GATEHOUSE_TEST_SEED=random npm test -- test/property` takes a seed of the moment, a number takes
 * that one; a failure prints its seed. `PROPERTY_RUNS=20` tries twenty times as many.
 */
import fc from 'fast-check';

const DEFAULT_SEED = 20_261_128;

const wanted = process.env.GATEHOUSE_TEST_SEED;
if (wanted !== 'random') fc.configureGlobal({ seed: seedOf(wanted) });

function seedOf(text: string | undefined): number {
  if (text === undefined) return DEFAULT_SEED;
  const seed = Number(text);
  if (!Number.isInteger(seed))
    throw new Error(`GATEHOUSE_TEST_SEED is "${text}"; write an integer, or random`);
  return seed;
}
