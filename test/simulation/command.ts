/** What `npm run sim` does, with the sound product or with a patch in place. */
import {
  type Choice,
  failureText,
  lastEvents,
  parseKinds,
  planOf,
  scenarioNamed,
  seedOf,
  shrink,
} from './campaign.ts';
import { costOf } from './cost.ts';
import { MUST_REACH, MUST_REACH_AFTER } from './must-reach.ts';
import { type Outcome, simulate } from './run.ts';
import { SCENARIOS } from './scenarios.ts';
import { Sometimes } from './sometimes.ts';
import { type CrashPoint, calmRun, crashAt, parseStrike, pointsOf, pointText } from './sweep.ts';

export interface Values {
  readonly seed?: string | undefined;
  readonly seeds?: string | undefined;
  readonly minutes?: string | undefined;
  readonly from?: string | undefined;
  readonly scenario?: string | undefined;
  readonly faults?: string | undefined;
  readonly calm: boolean;
  readonly verbose: boolean;
  readonly json: boolean;
  readonly first: boolean;
  readonly repeat: boolean;
  readonly sweep: boolean;
  readonly whole: boolean;
  readonly stride?: string | undefined;
  readonly offset?: string | undefined;
  readonly last?: string | undefined;
  readonly point?: string | undefined;
  readonly label?: string | undefined;
  readonly strike?: string | undefined;
  readonly patch?: string | undefined;
  readonly cost?: string | undefined;
}

const write = (line: string): void => void process.stdout.write(`${line}\n`);
/** Over itself on a terminal, not at all elsewhere. */
const progress = (text: string): void => {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`);
};

/** @returns the exit code. */
export async function command(values: Values): Promise<number> {
  if (values.cost !== undefined) {
    write(JSON.stringify(await costOf(Number(values.cost))));
    return 0;
  }
  if (values.point !== undefined) return await onePoint(values, values.point);
  if (values.sweep) return await sweep(values);
  return values.seed === undefined ? await campaign(values) : await oneSeed(values, Number(values.seed));
}

function choice({ scenario, calm, faults }: Values): Choice {
  return {
    calm,
    ...(scenario === undefined ? {} : { scenario }),
    ...(faults === undefined ? {} : { only: parseKinds(faults) }),
  };
}

async function oneSeed(values: Values, seed: number): Promise<number> {
  const plan = planOf(seed, choice(values));
  const outcome = await simulate({ ...plan, ...(values.verbose ? { story: write } : {}) });
  if (values.repeat) {
    const again = await simulate(plan);
    if (again.hash !== outcome.hash || again.steps !== outcome.steps) {
      write(`✗ seed ${seed} is not the same twice: ${hex(outcome.hash)}, then ${hex(again.hash)}`);
      return 1;
    }
  }
  if (outcome.violations.length > 0) await explain(plan, outcome, values);
  else write(`✓ seed ${seed}, scenario ${plan.scenario.name}: nothing went wrong that should not`);
  write(
    `  ${outcome.steps} events, ${outcome.points} calls, at rest after ${(outcome.restedAt / 1000).toFixed(1)} s of virtual time, trace ${hex(outcome.hash)}`,
  );
  return outcome.violations.length === 0 ? 0 : 1;
}

async function explain(plan: ReturnType<typeof planOf>, outcome: Outcome, values: Values): Promise<void> {
  const [first] = outcome.violations;
  for (const line of failureText(plan, outcome)) write(line);
  const fewer =
    first === undefined || values.patch !== undefined ? plan : await shrink(plan, first.invariant);
  if (fewer.faults.length < plan.faults.length) {
    write(`  of these, enough to break ${first?.invariant ?? 'it'}:`);
    for (const line of failureText(fewer, { ...outcome, violations: [] }).slice(2)) write(line);
  }
  write('  just before:');
  for (const line of lastEvents(outcome)) write(`    ${line.slice(0, 200)}`);
  write(
    `  again: npm run sim -- --seed ${plan.seed}${values.scenario === undefined ? '' : ` --scenario ${values.scenario}`}${values.faults === undefined ? '' : ` --faults ${values.faults}`} --verbose`,
  );
}

async function campaign(values: Values): Promise<number> {
  const from = Number(values.from ?? 1);
  const most = values.minutes === undefined ? Number(values.seeds ?? 100) : Number.POSITIVE_INFINITY;
  const begun = performance.now();
  const deadline =
    values.minutes === undefined ? Number.POSITIVE_INFINITY : begun + Number(values.minutes) * 60_000;
  const sometimes = new Sometimes();
  const failed: number[] = [];
  let runs = 0;
  let steps = 0;
  for (
    let seed = from;
    runs < most && performance.now() < deadline && !(values.first && failed.length > 0);
    seed += 1
  ) {
    const plan = planOf(seed, choice(values));
    const outcome = await simulate({ ...plan, first: values.first });
    runs += 1;
    steps += outcome.steps;
    sometimes.add(outcome.sometimes);
    for (const exit of outcome.exits) sometimes.reached(`exit: ${exit.replace(/^\d+ × /, '')}`);
    if (outcome.violations.length > 0) {
      failed.push(seed);
      progress('');
      if (failed.length <= 3) await explain(plan, outcome, values);
      else
        write(
          `✗ seed ${seed}, scenario ${plan.scenario.name}: ${outcome.violations[0]?.invariant}: ${outcome.violations[0]?.text.slice(0, 200)}`,
        );
    }
    progress(`${runs} runs, ${failed.length} failed, ${perSecond(runs, begun)} runs/s`);
  }
  progress('');
  if (!values.json) writeReached(sometimes);
  const unreached =
    values.calm || values.scenario !== undefined || runs < MUST_REACH_AFTER
      ? []
      : MUST_REACH.filter(name => !sometimes.counts.has(name));
  for (const name of unreached) write(`✗ never reached: ${name}`);
  const seconds = (performance.now() - begun) / 1000;
  write(
    `${runs} runs, ${steps} events in ${seconds.toFixed(1)} s: ${failed.length === 0 ? 'no violation' : `seeds that failed: ${failed.join(' ')}`}`,
  );
  if (values.json)
    write(JSON.stringify({ runs, failed, unreached, sometimes: Object.fromEntries(sometimes.counts) }));
  return failed.length + unreached.length === 0 ? 0 : 1;
}

function writeReached({ counts }: Sometimes): void {
  write('reached:');
  for (const [name, times] of [...counts].sort()) write(`${String(times).padStart(8)}  ${name}`);
}

function perSecond(runs: number, begun: number): string {
  return (runs / ((performance.now() - begun) / 1000)).toFixed(1);
}

function hex(hash: number): string {
  return (hash >>> 0).toString(16).padStart(8, '0');
}

// ---- crash points ----

async function sweep(values: Values): Promise<number> {
  const scenarios =
    values.scenario === undefined
      ? SCENARIOS.filter(each => values.whole || each.lands.length > 0)
      : [scenarioNamed(values.scenario)];
  const strike = values.strike === undefined ? undefined : parseStrike(values.strike);
  const choice = {
    stride: Number(values.stride ?? 1),
    offset: Number(values.offset ?? 0),
    last: Number(values.last ?? 0),
    ...(values.label === undefined ? {} : { label: values.label }),
    ...(strike === undefined ? {} : { strike }),
  };
  let failures = 0;
  const sometimes = new Sometimes();
  for (const scenario of scenarios) {
    const seed = values.whole ? seedOf(scenario) : 1;
    const { labels, outcome } = await calmRun(scenario, { seed, short: !values.whole });
    const points = scenario.lands.length === 0 ? [] : pointsOf(labels, choice);
    const begun = performance.now();
    let done = 0;
    let bad = 0;
    if (values.whole && outcome.violations.length > 0) {
      bad += 1;
      for (const line of failureText({ seed, scenario, faults: [] }, outcome)) write(line);
      write(`  again: npm run sim -- --calm --seed ${seed} --verbose`);
    }
    for (const point of points) {
      if (values.first && bad > 0) break;
      const swept = await crashAt(scenario, point, { seed, first: values.first });
      done += 1;
      if (swept !== undefined) sometimes.add(swept.outcome.sometimes);
      progress(
        `${scenario.name}: ${done} of ${points.length} crash points, ${bad} failed, ${perSecond(done, begun)}/s`,
      );
      if (swept === undefined || swept.outcome.violations.length === 0) continue;
      bad += 1;
      progress('');
      write(`✗ ${scenario.name} ${pointText(point)}: ${swept.process} struck at ${swept.label}`);
      for (const { invariant, at, text } of swept.outcome.violations.slice(0, 4))
        write(`    ${invariant} at ${(at / 1000).toFixed(3)} s: ${text.slice(0, 300)}`);
      write(
        `    again: npm run sim -- --scenario ${scenario.name} --seed ${seed} --point ${pointText(point)} --verbose`,
      );
    }
    progress('');
    write(
      `${bad === 0 ? '✓' : '✗'} ${scenario.name}: ${labels.length} calls, ${done} processes struck, ${bad} failed`,
    );
    failures += bad;
  }
  writeReached(sometimes);
  return failures === 0 ? 0 : 1;
}

async function onePoint(values: Values, text: string): Promise<number> {
  const point = parsePoint(text);
  const swept = await crashAt(scenarioNamed(values.scenario ?? 'single-change'), point, {
    seed: Number(values.seed ?? 1),
    ...(values.verbose ? { story: write } : {}),
  });
  if (swept === undefined) {
    write(`there is no call ${point.index}`);
    return 2;
  }
  const { violations } = swept.outcome;
  write(
    `${violations.length === 0 ? '✓' : '✗'} ${swept.process} ${point.how === 'pause' ? 'stopped' : point.how === 'break' ? 'cut off' : 'killed'} at ${swept.label} (${point.phase})`,
  );
  for (const { invariant, at, text: what } of violations)
    write(`    ${invariant} at ${(at / 1000).toFixed(3)} s: ${what.slice(0, 500)}`);
  if (violations.length > 0) for (const line of lastEvents(swept.outcome)) write(`    ${line.slice(0, 200)}`);
  return violations.length === 0 ? 0 : 1;
}

function parsePoint(text: string): CrashPoint {
  const strike = parseStrike(text.slice(text.indexOf('/') + 1));
  if (strike === undefined)
    throw new Error(`--point takes <number>/<before|effect|reply>[/pause|/break], not ${text}`);
  return { index: Number.parseInt(text, 10), ...strike };
}
