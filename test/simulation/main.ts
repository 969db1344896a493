/**
 * `npm run sim`: deterministic simulation. The real schedulers, intake, outbox senders, driver and the mergers' and
 * executors' ends of the store run in one thread with virtual time, over an in-memory ensemble and a made-up code host, while
 * a seed decides what goes wrong. Everything that is committed is checked; at the end everything must be at rest, and one more
 * change must pass the gate.
 *
 *     npm run sim -- --seeds 1000            a campaign; --minutes 10, --from 5000, --scenario busy, --calm
 *     npm run sim -- --seed 4711             that run again; --verbose prints its whole story
 *     npm run sim -- --sweep [--scenario reset] [--stride 10] [--point 812/effect]
 *     npm run sim -- --patches               breaks the rules on purpose, one at a time: each must be caught
 *     npm run sim -- --cost 200              what a landed change costs among 200: writes, bytes, requests
 *
 * Where things are:
 *
 *     kernel/        virtual time, processes that can be killed and paused, the platform's clock and chance replaced
 *     store/         the ensemble: a leader, copies that lag, sessions that expire; the client side of a session
 *     host/          the code host: commits and refs without git, people, calls over the network
 *     process/       what runs in a process: wiring only, the code is the real one
 *     world.ts       all of it put together; supervisor, webhooks
 *     scenario*.ts   what people do;  faults.ts, weather.ts  what goes wrong
 *     checks/        the invariants;  quiet.ts  whether all is at rest
 *     run.ts         one run;  campaign.ts  many;  sweep.ts  a crash at every call;  cost.ts  counts
 *     patches/       broken rules, as data, and how they are put in place while the source is loaded
 */
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import type { Values } from './command.ts';
import { COMMAND_ENDED } from './command-ended.ts';
import { patchedModules } from './patches/apply.ts';
import { patchNamed } from './patches/table.ts';

const HELP = `npm run sim -- [options]

  --seeds N        this many runs, one per seed (default 100)       --minutes M   as many as fit
  --from N         the first seed (default 1)                       --scenario S  always this one
  --first          stop at the first failure
  --faults A,B     only faults of these kinds
  --calm           nothing goes wrong                               --json        one line of JSON at the end
  --seed N         one run                                          --verbose     its story, event by event
  --repeat         twice, and both must be the same
  --sweep          kill the caller at every call of a port          --stride N    every N-th call, phases in turn
  --point N/K      only there, with its whole story on --verbose    --offset N      begin with the N-th
  --label TEXT     only calls that begin so                         --last N        the first N come after the others
  --whole          first each scenario as with --calm and a seed of its own, to its end
  --strike K       before, effect, reply, or with /pause, /break
  --patches        every rule-breaking patch must be caught         --patch NAME  runs with that patch
  --cost N         what a landed change costs among N, as one line of JSON
  --commands       reads commands from standard input, each the options above as a line of JSON
`;

const OPTIONS = {
  seed: { type: 'string' },
  seeds: { type: 'string' },
  minutes: { type: 'string' },
  from: { type: 'string' },
  scenario: { type: 'string' },
  faults: { type: 'string' },
  calm: { type: 'boolean', default: false },
  verbose: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  first: { type: 'boolean', default: false },
  repeat: { type: 'boolean', default: false },
  sweep: { type: 'boolean', default: false },
  whole: { type: 'boolean', default: false },
  stride: { type: 'string' },
  offset: { type: 'string' },
  last: { type: 'string' },
  point: { type: 'string' },
  label: { type: 'string' },
  strike: { type: 'string' },
  patches: { type: 'boolean', default: false },
  patch: { type: 'string' },
  cost: { type: 'string' },
  commands: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

const { values } = parseArgs({ options: OPTIONS });
if (values.help) process.stdout.write(HELP);
else if (values.commands) await runEach();
else process.exitCode = await run(values);

/** One after another, so that the product is loaded and compiled once for all of them. */
async function runEach(): Promise<void> {
  for await (const line of createInterface({ input: process.stdin })) {
    const { values: asked } = parseArgs({ args: JSON.parse(line), options: OPTIONS });
    process.stdout.write(`${COMMAND_ENDED}${await run(asked)}\n`);
  }
}

async function run(values: Values & { readonly patches: boolean }): Promise<number> {
  if (values.patches) {
    const { runPatches } = await import('./patches/run-patches.ts');
    return await runPatches(patchedModules(), line => void process.stdout.write(`${line}\n`));
  }
  const url = new URL('./command.ts', import.meta.url).href;
  const modules = values.patch === undefined ? undefined : patchedModules();
  const sound = (await import(url)) as typeof import('./command.ts');
  if (values.patch === undefined || modules === undefined) return await sound.command(values);
  const patched = (await modules.load(url, patchNamed(values.patch))) as typeof sound;
  return await patched.command(values);
}
