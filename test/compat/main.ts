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
import { drivers as ourDrivers } from '../../drivers/index.ts';
import type { Languages } from '../../src/layout/build/build-pipeline.ts';
import { type CompatCase, type ConnectionDrivers, fixturesBelow } from './fixtures.ts';
import { ANY_DRIVER, type Refusals, refusalsOf } from './load.ts';

const program = new Command('compat')
  .requiredOption('--zuul <dir>', 'a source tree of Zuul')
  .option('--all', 'print every reason of every refusal, not the first one', false)
  .parse();

async function compat({ zuul, all }: { readonly zuul: string; readonly all: boolean }): Promise<number> {
  const { cases, drivers } = fixturesBelow(zuul);
  const real = await languagesOf(drivers);
  const any = new Map([...[...drivers.keys(), ...OTHERS].map(name => [name, ANY_DRIVER] as const), ...real]);
  const results = cases.map(each => ({
    each,
    real: refusalsOf(each, real),
    any: refusalsOf(each, any),
  }));
  for (const { each, real: refusals } of results) {
    const shown = all ? refusals : refusals.slice(0, 1);
    for (const reason of shown) process.stdout.write(`refused ${each.name}: ${oneLine(reason)}\n`);
  }
  for (const kind of ['tenants', 'layout'] as const) {
    const of = results.filter(({ each }) => each.kind === kind);
    const loaded = (which: (result: (typeof results)[number]) => Refusals) =>
      of.filter(result => which(result).length === 0).length;
    process.stdout.write(
      `${WORDS[kind]}: loaded ${loaded(result => result.real)} of ${of.length}, ${loaded(result => result.any)} with drivers that take anything\n`,
    );
  }
  return 0;
}

const WORDS: { readonly [kind in CompatCase['kind']]: string } = {
  tenants: 'tenant files',
  layout: 'single layouts',
};

/** Connections that layouts name and no settings file of the tests has. */
const OTHERS = ['gitlab', 'pagure'];

/** Of the connections whose driver we have. Zuul's git driver only reads. */
async function languagesOf(drivers: ConnectionDrivers): Promise<Languages> {
  const byDriver = new Map(
    await Promise.all(
      ourDrivers.map(async ({ name, loadLanguages }) => [name, await loadLanguages()] as const),
    ),
  );
  return new Map(
    [...drivers].flatMap(([connection, driver]) => {
      const languages = byDriver.get(driver);
      return languages === undefined
        ? []
        : [[connection, languages.readOnlyConfig ?? languages.config] as const];
    }),
  );
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}

process.exitCode = await compat(program.opts()).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  return 1;
});
