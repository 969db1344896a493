/** Many runs: which scenario and which faults a seed means, and the report of a run that failed. */
import { FAULT_KINDS, type Fault, faultText, randomFaults } from './faults.ts';
import { type Outcome, simulate } from './run.ts';
import type { Scenario } from './scenario.ts';
import { SCENARIOS } from './scenarios.ts';

export interface Plan {
  readonly seed: number;
  readonly scenario: Scenario;
  readonly faults: readonly Fault[];
}

/** Two of each kind. */
const PROCESSES = ['scheduler', 'merger', 'executor', 'web', 'sender'].flatMap(kind => [
  `${kind}1`,
  `${kind}2`,
]);

/** Milliseconds in which faults begin: while the scenario is played, and a little longer. */
const FAULTS_UNTIL = 60_000;

export function scenarioNamed(name: string): Scenario {
  const found = SCENARIOS.find(each => each.name === name);
  if (found === undefined)
    throw new Error(
      `there is no scenario ${name}; there are: ${SCENARIOS.map(each => each.name).join(', ')}`,
    );
  return found;
}

export interface Choice {
  readonly scenario?: string;
  /** Without faults. */
  readonly calm?: boolean;
  /** Faults of these kinds only. */
  readonly only?: readonly Fault['kind'][];
}

/** @throws Error for a kind that there is not. */
export function parseKinds(text: string): readonly Fault['kind'][] {
  return text.split(',').map(name => {
    const kind = FAULT_KINDS.find(each => each === name);
    if (kind === undefined)
      throw new Error(`there is no fault ${name}; there are: ${FAULT_KINDS.join(', ')}`);
    return kind;
  });
}

export function planOf(seed: number, options: Choice = {}): Plan {
  const index = ((seed % SCENARIOS.length) + SCENARIOS.length) % SCENARIOS.length;
  const scenario = options.scenario === undefined ? SCENARIOS[index] : scenarioNamed(options.scenario);
  if (scenario === undefined) throw new RangeError(`seed ${seed}`);
  return {
    seed,
    scenario,
    faults: options.calm === true ? [] : randomFaults(seed, PROCESSES, FAULTS_UNTIL, options.only),
  };
}

/** The first seed from 1 on that means this scenario. */
export function seedOf(scenario: Scenario): number {
  return SCENARIOS.indexOf(scenario) || SCENARIOS.length;
}

/** Drops faults one by one as long as the same invariant is still broken. @param most runs it may take. */
export async function shrink(plan: Plan, invariant: string, most = 40): Promise<Plan> {
  let { faults } = plan;
  let runs = 0;
  for (let index = faults.length - 1; index >= 0 && runs < most; index -= 1) {
    const fewer = faults.toSpliced(index, 1);
    runs += 1;
    const { violations } = await simulate({ ...plan, faults: fewer });
    if (violations.some(each => each.invariant === invariant)) faults = fewer;
  }
  return { ...plan, faults };
}

/** What a person needs to know of a run that failed. */
export function failureText(plan: Plan, outcome: Outcome): readonly string[] {
  return [
    `✗ seed ${plan.seed}, scenario ${plan.scenario.name}: ${plan.scenario.text}`,
    ...outcome.violations.map(
      ({ invariant, at, text }) => `    ${invariant} at ${(at / 1000).toFixed(3)} s: ${text.slice(0, 500)}`,
    ),
    `  faults (${plan.faults.length}):`,
    ...plan.faults.map(fault => `    ${faultText(fault)}`),
  ];
}

/** Where the first thing went wrong, and what happened just before. */
export function lastEvents({ recent }: Outcome, most = 25): readonly string[] {
  const first = recent.findIndex(line => line.includes('✗'));
  const end = first === -1 ? recent.length : first + 1;
  return recent.slice(Math.max(0, end - most), end);
}
