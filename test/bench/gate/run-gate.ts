/** One gate of N approved changes: how fast they land, and what the service does for each. */
import { setTimeout as delay } from 'node:timers/promises';
import { createApi } from '../../../src/cmd/client/api.ts';
import { checkLanded, makeChanges, pushChanges, tipOf, watchLandings } from './landings.ts';
import type { GateAnswer } from './main.ts';
import type { ProfileLine } from './profile.ts';
import { type GateSite, openGateSite, TENANT } from './site.ts';

/** All but the first three per landed change. */
export interface GateFigures {
  /** Seconds from the push of all to the last landing, and from the end of the last job. */
  readonly seconds: number;
  readonly afterLastJob: number;
  readonly branchMoves: number;
  /** Milliseconds of processor time: of the service, of it on the event loop and in the kernel, of its helpers and the processes they start. */
  readonly cpu: number;
  readonly loop: number;
  readonly kernel: number;
  readonly helpers: number;
  readonly processes: number;
  /** Without those of jobs, most frequent first. */
  readonly byKind: readonly (readonly [what: string, count: number])[];
  readonly transactions: number;
  readonly bytes: number;
  /** What is written to the store, largest first. */
  readonly written: readonly { readonly what: string; readonly operations: number; readonly bytes: number }[];
  readonly roundTrips: number;
  readonly profile: readonly ProfileLine[] | undefined;
}

const WARM_UP = 3;

/** @throws Error when not all land, in order, with the right trees. */
export async function runGate(count: number, profiled: boolean): Promise<GateFigures> {
  await using site = await openGateSite('gate');
  await land(site, WARM_UP, 'warm');
  if (profiled) await site.ask('profile');
  const before = await site.ask('figures');
  const helpersBefore = await site.helperTime(before.helpers);
  const { seconds, last, moves } = await land(site, count, 'change');
  const after = await whenQuiet(site);
  const helpers = (await site.helperTime(before.helpers)) - helpersBefore;
  const { profile } = profiled ? await site.ask('profile') : {};
  const each = (of: (answer: GateAnswer) => number) => (of(after) - of(before)) / count;
  const byKind = Object.entries(after.processes)
    .map(([what, total]) => [what, (total - (before.processes[what] ?? 0)) / count] as const)
    .filter(([, one]) => one > 0)
    .toSorted(([, a], [, b]) => b - a);
  return {
    seconds,
    afterLastJob: (last - (await endOfLastJob(site))) / 1000,
    branchMoves: moves,
    cpu: each(({ user, system }) => user + system),
    loop: each(({ loop }) => loop),
    kernel: each(({ system }) => system),
    helpers: helpers / count,
    processes: byKind.reduce((sum, [, one]) => sum + one, 0),
    byKind,
    transactions: each(({ transactions }) => transactions),
    bytes: each(({ bytes }) => bytes),
    written: writtenEach(before, after, count),
    roundTrips: each(({ roundTrips }) => roundTrips),
    profile,
  };
}

function writtenEach(before: GateAnswer, after: GateAnswer, count: number): GateFigures['written'] {
  return Object.entries(after.written)
    .map(([what, total]) => ({
      what,
      operations: (total.operations - (before.written[what]?.operations ?? 0)) / count,
      bytes: (total.bytes - (before.written[what]?.bytes ?? 0)) / count,
    }))
    .filter(({ operations }) => operations > 0)
    .toSorted((a, b) => b.bytes - a.bytes);
}

interface Landing {
  readonly seconds: number;
  /** Milliseconds since the epoch. */
  readonly last: number;
  readonly moves: number;
}

async function land(site: GateSite, count: number, name: string): Promise<Landing> {
  const commits = await makeChanges(site, count, name);
  const base = await tipOf(site);
  const landings = watchLandings(site, name);
  const begun = performance.now();
  await pushChanges(site, commits, name, true);
  const { last, moves } = await landings.allLanded();
  await checkLanded(site, base, commits, name);
  return { seconds: (last - begun) / 1000, last: performance.timeOrigin + last, moves };
}

/** Milliseconds in which nothing is written: notes and looks that follow the last landing are done. */
const QUIET = 500;

async function whenQuiet(site: GateSite): Promise<GateAnswer> {
  for (let before = await site.ask('figures'); ; ) {
    await delay(QUIET);
    const now = await site.ask('figures');
    if (now.transactions === before.transactions) return before;
    before = now;
  }
}

interface EndedBuild {
  readonly gatehouse: { readonly ended_at: string | null };
}

/** Milliseconds since the epoch. */
async function endOfLastJob({ url }: GateSite): Promise<number> {
  const builds = await createApi(url).get<readonly EndedBuild[]>(`/api/tenant/${TENANT}/builds?limit=50`);
  return Math.max(...builds.map(({ gatehouse }) => Number(gatehouse.ended_at ?? 0) / 1e6));
}
