/**
 * `npm run compat -- --zuul DIR [--oracle PYTHON]`: how much of the configuration that Zuul's own tests use loads here, and whether it means
 * the same. DIR is a source tree of Zuul, PYTHON one with Zuul installed; you fetch both, nothing of them is part of Gatehouse.
 * `--site DIR`: the same for a site's own tenants; `--tenants FILE…`: tenant files alone, whose connections are all stubs.
 * `--zuul-jobs DIR`: which roles of zuul-jobs run here (zuul-jobs/).
 *
 *     fixtures.ts    what there is to load
 *     load.ts        loads it
 *     oracle.ts      asks Zuul's own loader (oracle.py)
 *     compare.ts     what differs between the two
 *
 * Each case is loaded twice: with the drivers there are, and with stub drivers beside them, which take anything. Some cases are mistakes on
 * purpose, which Zuul refuses too: the oracle knows which.
 */
import path from 'node:path';
import { Command } from 'commander';
import { messengers, drivers as ourDrivers } from '../../drivers/index.ts';
import type { Languages } from '../../src/layout/build/build-pipeline.ts';
import { differencesOf, graphsOf } from './compare.ts';
import { type CompatCase, type FixtureConnection, fixturesBelow, siteIn, tenantFiles } from './fixtures.ts';
import { ANY_DRIVER, type Loaded, loadCase } from './load.ts';
import { askOracle, type OracleAnswer, refusedByZuul } from './oracle.ts';
import type { PlaceName } from './zuul-jobs/cases.ts';
import { runZuulJobs } from './zuul-jobs/run-zuul-jobs.ts';

const program = new Command('compat')
  .option('--zuul <dir>', 'a source tree of Zuul')
  .option(
    '--site <dir>',
    'a site: its tenant file, zuul.conf, and git/ with a folder for each repository, / written as _',
  )
  .option('--tenants <file...>', 'tenant files of sites, without their repositories')
  .option('--zuul-jobs <dir>', 'a checkout of zuul-jobs, whose tests and roles are run here')
  .option('--only <regex>', 'of zuul-jobs: cases whose name matches', '')
  .option('--on <places>', 'of zuul-jobs: local, ssh or local,ssh', 'local,ssh')
  .option('--sshd <program>', 'of zuul-jobs: the server of the hosts', '/usr/sbin/sshd')
  .option('--ansible <dir>', 'of zuul-jobs: folder of a version of Ansible, with bin/ansible-playbook')
  .option('--at-once <number>', 'of zuul-jobs: builds at a time', '2')
  .option('--oracle <python>', 'a Python with Zuul installed, whose loader says what is right')
  .option('--all', 'print every reason of every refusal, not the first one', false)
  .parse();

interface Options {
  readonly zuul?: string;
  readonly site?: string;
  readonly tenants?: readonly string[];
  readonly oracle?: string;
  readonly zuulJobs?: string;
  readonly only: string;
  readonly on: string;
  readonly sshd: string;
  readonly ansible?: string;
  readonly atOnce: string;
  readonly all: boolean;
}

interface Result {
  readonly kind: CompatCase['kind'];
  readonly real: readonly Loaded[];
  readonly stub: readonly Loaded[];
  /** Undefined: the oracle was not asked. */
  readonly answer: OracleAnswer | undefined;
}

async function compat(options: Options): Promise<number> {
  const { zuul, site, tenants, oracle, all, zuulJobs, only, on, sshd, ansible, atOnce } = options;
  if (zuulJobs !== undefined)
    return runZuulJobs({
      directory: zuulJobs,
      only: new RegExp(only),
      places: placesOf(on),
      ...{ sshd, ansible, atOnce: Number(atOnce) },
      print: line => void process.stdout.write(`${oneLine(line)}\n`),
    });
  if (zuul === undefined) {
    if (oracle !== undefined) throw new Error('--oracle needs --zuul');
    if (site !== undefined) return report(siteIn(site), undefined, all);
    if (tenants !== undefined) return report(tenantFiles(tenants), undefined, all);
    throw new Error('give --zuul, --zuul-jobs, --site or --tenants');
  }
  const fixtures = fixturesBelow(zuul);
  if (oracle === undefined) return report(fixtures, undefined, all);
  const key = path.join(zuul, 'tests/fixtures/private.pem');
  return report(fixtures, await askOracle(oracle, fixtures.cases, fixtures.connections, key), all);
}

/** @throws Error */
function placesOf(text: string): readonly PlaceName[] {
  return text.split(',').map(name => {
    const found = PLACES.find(each => each === name);
    if (found === undefined) throw new Error(`--on ${text}: places are ${PLACES.join(', ')}`);
    return found;
  });
}

const PLACES = ['local', 'ssh'] as const;

/** @param answers of the oracle, one for each case. */
async function report(
  { cases, connections }: ReturnType<typeof fixturesBelow>,
  answers: readonly OracleAnswer[] | undefined,
  all: boolean,
): Promise<number> {
  const ours = await languagesOf(connections);
  // What names no driver is a stub in either case.
  const stubs = [...connections].filter(([, { driver }]) => driver === '').map(([name]) => name);
  const real = new Map([...ours, ...stubs.map(name => [name, ANY_DRIVER] as const)]);
  const stub = new Map([...[...connections.keys()].map(name => [name, ANY_DRIVER] as const), ...real]);
  const results = cases.map((each, index): Result => {
    const { kind } = each;
    return {
      kind,
      real: loadCase(each, real, connections),
      stub: loadCase(each, stub, connections),
      answer: answers?.[index],
    };
  });
  for (const result of results)
    for (const line of reportOf(result, all)) process.stdout.write(`${oneLine(line)}\n`);
  for (const kind of ['tenants', 'layout'] as const) {
    const own = results.filter(each => each.kind === kind);
    if (own.length === 0) continue;
    for (const line of tally(own)) process.stdout.write(`${WORDS[kind]}: ${line}\n`);
  }
  return 0;
}

function reportOf({ real, stub, answer }: Result, all: boolean): readonly string[] {
  return real.flatMap((loaded, index) => {
    const zuul = answer === undefined ? undefined : refusedByZuul(answer, loaded.tenant);
    const too = zuul === undefined ? '' : ` (Zuul, too: ${zuul})`;
    const withStubs = stub[index]?.refusals.length === 0 ? ' (loads with stub drivers)' : '';
    const shown = all ? loaded.refusals : loaded.refusals.slice(0, 1);
    return [
      ...shown.map(reason => `refused ${loaded.name}: ${reason}${too}${withStubs}`),
      ...(shown.length === 0 && zuul !== undefined ? [`refused by Zuul alone ${loaded.name}: ${zuul}`] : []),
      ...differencesIn(stub[index], answer).map(text => `differs ${loaded.name}: ${text}`),
    ];
  });
}

/** Of a tenant that loads on both sides. */
function differencesIn(loaded: Loaded | undefined, answer: OracleAnswer | undefined): readonly string[] {
  const zuul = zuulOf(loaded, answer);
  if (loaded?.layout === undefined || zuul === undefined) return [];
  return differencesOf(loaded.layout, zuul);
}

function zuulOf(loaded: Loaded | undefined, answer: OracleAnswer | undefined) {
  if (loaded?.tenant === undefined || loaded.refusals.length > 0 || answer === undefined) return undefined;
  if ('error' in answer || refusedByZuul(answer, loaded.tenant) !== undefined) return undefined;
  return answer.tenants[loaded.tenant];
}

function tally(results: readonly Result[]): readonly string[] {
  const [real, stub] = [results.flatMap(each => each.real), results.flatMap(each => each.stub)];
  const loads = `loaded ${loadedOf(real)} of ${real.length}, ${loadedOf(stub)} with stub drivers`;
  const lacking = stub.filter(({ lacksRepositories }) => lacksRepositories).length;
  const names = `${lacking} more lack only names, and some of their repositories are not there`;
  if (results.every(({ answer }) => answer === undefined))
    return [lacking === 0 ? loads : `${loads}; ${names}`];
  const rows = results.flatMap(({ stub: tenants, answer }) =>
    tenants.map(loaded => ({
      isLoaded: loaded.refusals.length === 0,
      isRefused: answer !== undefined && refusedByZuul(answer, loaded.tenant) !== undefined,
      graphs: graphsOf(zuulOf(loaded, answer) ?? {}),
      differences: differencesIn(loaded, answer).length,
    })),
  );
  const refused = rows.filter(({ isLoaded }) => !isLoaded);
  const zuulAlone = rows.filter(({ isLoaded, isRefused }) => isLoaded && isRefused).length;
  const graphs = rows.reduce((sum, row) => sum + row.graphs, 0);
  const differences = rows.reduce((sum, row) => sum + row.differences, 0);
  const tooCount = refused.filter(({ isRefused }) => isRefused).length;
  return [
    `${loads}; of the others Zuul refuses ${tooCount}, too, and takes ${refused.length - tooCount}; Zuul alone refuses ${zuulAlone}`,
    `of what both load, ${graphs} job graphs were compared, with pipelines and variants; differences: ${differences}`,
  ];
}

function loadedOf(tenants: readonly Loaded[]): number {
  return tenants.filter(({ refusals }) => refusals.length === 0).length;
}

const WORDS: { readonly [kind in CompatCase['kind']]: string } = {
  tenants: 'tenants',
  layout: 'single layouts',
};

/** Of the connections whose driver we have. */
async function languagesOf(connections: ReadonlyMap<string, FixtureConnection>): Promise<Languages> {
  const byDriver = new Map<string, Parsers>();
  for (const { name, loadLanguages } of ourDrivers) {
    const { config, readOnlyConfig } = await loadLanguages();
    // Zuul's git driver only reads.
    byDriver.set(name, readOnlyConfig ?? config);
  }
  for (const { name, loadLanguages } of messengers) byDriver.set(name, (await loadLanguages()).config);
  return new Map(
    [...connections].flatMap(([connection, { driver }]) => {
      const parsers = byDriver.get(driver);
      return parsers === undefined ? [] : [[connection, parsers] as const];
    }),
  );
}

type Parsers = NonNullable<ReturnType<Languages['get']>>;

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}

process.exitCode = await compat(program.opts()).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  return 1;
});
