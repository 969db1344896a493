/**
 * `npm run compat -- --zuul DIR`: how much of the configuration that Zuul's own tests use loads here. DIR is a source tree of Zuul, which
 * you fetch; nothing of it is part of Gatehouse.
 *
 *     fixtures.ts    what there is to load
 *     load.ts        loads it
 *
 * Each case is loaded twice: with the drivers there are, and with further ones that take anything. Some cases are mistakes on purpose,
 * which Zuul refuses too.
 */
import { Command } from 'commander';
import { messengers, drivers as ourDrivers } from '../../drivers/index.ts';
import type { Languages } from '../../src/layout/build/build-pipeline.ts';
import { type CompatCase, type ConnectionDrivers, fixturesBelow } from './fixtures.ts';
import { ANY_DRIVER, type Loaded, loadCase } from './load.ts';

const program = new Command('compat')
  .requiredOption('--zuul <dir>', 'a source tree of Zuul')
  .option('--all', 'print every reason of every refusal, not the first one', false)
  .parse();

async function compat({ zuul, all }: { readonly zuul: string; readonly all: boolean }): Promise<number> {
  const { cases, drivers } = fixturesBelow(zuul);
  const real = await languagesOf(drivers);
  const any = new Map([...[...drivers.keys(), ...OTHERS].map(name => [name, ANY_DRIVER] as const), ...real]);
  const results = cases.map(each => ({
    kind: each.kind,
    real: loadCase(each, real),
    any: loadCase(each, any),
  }));
  for (const { name, refusals } of results.flatMap(each => each.real)) {
    const shown = all ? refusals : refusals.slice(0, 1);
    for (const reason of shown) process.stdout.write(`refused ${name}: ${oneLine(reason)}\n`);
  }
  for (const kind of ['tenants', 'layout'] as const) {
    const of = results.filter(each => each.kind === kind);
    const [ours, all] = [of.flatMap(each => each.real), of.flatMap(each => each.any)];
    process.stdout.write(
      `${WORDS[kind]}: loaded ${loadedOf(ours)} of ${ours.length}, ${loadedOf(all)} with drivers that take anything\n`,
    );
  }
  return 0;
}

function loadedOf(tenants: readonly Loaded[]): number {
  return tenants.filter(({ refusals }) => refusals.length === 0).length;
}

const WORDS: { readonly [kind in CompatCase['kind']]: string } = {
  tenants: 'tenants',
  layout: 'single layouts',
};

/** Connections that layouts name and no settings file of the tests has. */
const OTHERS = ['gitlab', 'pagure'];

/** Of the connections whose driver we have. */
async function languagesOf(drivers: ConnectionDrivers): Promise<Languages> {
  const byDriver = new Map<string, Parsers>();
  for (const { name, loadLanguages } of ourDrivers) {
    const { config, readOnlyConfig } = await loadLanguages();
    // Zuul's git driver only reads.
    byDriver.set(name, readOnlyConfig ?? config);
  }
  for (const { name, loadLanguages } of messengers) byDriver.set(name, (await loadLanguages()).config);
  return new Map(
    [...drivers].flatMap(([connection, driver]) => {
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
