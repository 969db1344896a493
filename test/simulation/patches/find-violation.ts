/** Looks for the first violation where a patch is known to be caught. Loaded anew for each patch, with all that it concerns. */
import { parseKinds, planOf, scenarioNamed } from '../campaign.ts';
import { type Outcome, simulate } from '../run.ts';
import { calmRun, crashAt, parseStrike, pointsOf } from '../sweep.ts';
import type { Catch } from './patch.ts';

/** Of runs before it is given up. */
const MOST_RUNS = 40;

/** @returns the run that broke an invariant; undefined: none did. */
export async function findViolation(caughtBy: Catch): Promise<Outcome | undefined> {
  let runs = 0;
  for await (const outcome of caughtBy.kind === 'seeds' ? runsOf(caughtBy) : strikesOf(caughtBy)) {
    if (outcome.violations.length > 0) return outcome;
    runs += 1;
    if (runs === MOST_RUNS) return undefined;
  }
  return undefined;
}

async function* runsOf({ from, scenario, calm, faults }: Extract<Catch, { kind: 'seeds' }>) {
  for (let seed = from; ; seed += 1) {
    const plan = planOf(seed, {
      ...(scenario === undefined ? {} : { scenario }),
      ...(calm === undefined ? {} : { calm }),
      ...(faults === undefined ? {} : { only: parseKinds(faults) }),
    });
    yield await simulate({ ...plan, first: true });
  }
}

async function* strikesOf({ scenario: name, label, strike, last = 0 }: Extract<Catch, { kind: 'calls' }>) {
  const scenario = scenarioNamed(name);
  const how = parseStrike(strike);
  if (how === undefined) throw new Error(`there is no strike ${strike}`);
  const { labels } = await calmRun(scenario, { short: true });
  for (const point of pointsOf(labels, { label, last, strike: how })) {
    const swept = await crashAt(scenario, point, { first: true });
    if (swept !== undefined) yield swept.outcome;
  }
}
