/**
 * A long queue in the whole service: many open proposals in `check`, of which some are approved and wait in the gate, too. Both
 * pipelines are paused by an operator, so that the queue stands: what its arrival costs, what it weighs, and what looking at it takes.
 * Then the gate goes on, and lands beside what still waits. A gate of 20 before that, in the same service, is what its speed is compared with.
 *
 *     GATEHOUSE_BENCH_QUEUE=1000,5000 npm run bench queue
 *     GATEHOUSE_BENCH_PROFILE=1 GATEHOUSE_BENCH_QUEUE=200,500 npm run bench queue
 *
 * Oracle: each proposal is in its pipelines; the approved ones land, each once, in order, with the right trees.
 */
import { execFile } from 'node:child_process';
import { loadavg } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { StatusDocument } from '../../src/api/status-schema.ts';
import { checkLanded, makeChanges, pushChanges, tipOf, watchLandings } from './gate/landings.ts';
import type { GateAnswer } from './gate/main.ts';
import { type GateSite, openGateSite, TENANT } from './gate/site.ts';
import type { Row } from './main.ts';

const [APPROVED = 0, OPEN = 0] = (process.env.GATEHOUSE_BENCH_QUEUE ?? '1000,5000').split(',').map(Number);
const PROFILED = process.env.GATEHOUSE_BENCH_PROFILE !== undefined;
const SMALL = 20;
/** Milliseconds: between two looks, without any progress before it is given up, and of the time in which the queue stands. */
const LOOK = 500;
const STALLED = 300_000;
const STANDING = 20_000;

const run = promisify(execFile);
const MAIN = path.join(import.meta.dirname, '../../src/cmd/main.ts');

export async function* benchQueue(): AsyncGenerator<Row> {
  await using site = await openGateSite('check', 'gate');
  const meter = await createMeter(site);
  await operate(site, 'pause', 'check');
  await land(site, 3, 'warm');
  const small = await land(site, SMALL, 'small');
  yield { name: `${SMALL} land alone`, value: small, unit: 'changes/s' };

  await operate(site, 'pause', 'gate');
  const waiting = await makeChanges(site, OPEN - APPROVED, 'waiting');
  const approved = await makeChanges(site, APPROVED, 'approved');
  await meter.begin();
  const arrival = performance.now();
  await pushChanges(site, waiting, 'waiting', false);
  await pushChanges(site, approved, 'approved', true);
  await meter.untilStanding({ gate: APPROVED, check: OPEN });
  const arrived = seconds(performance.now() - arrival);
  yield {
    name: `${OPEN} proposals, ${APPROVED} of them approved: until all wait`,
    value: arrived,
    unit: 's',
  };
  yield* await meter.rows('  meanwhile', OPEN, 'proposal');

  yield* await lookRows(site);
  await meter.begin();
  await delay(STANDING);
  yield* await meter.rows('while they wait', seconds(STANDING), 's');

  if (PROFILED) await site.ask('profile');
  await meter.begin();
  const base = await tipOf(site);
  const landings = watchLandings(site, 'approved');
  const begun = performance.now();
  await operate(site, 'resume', 'gate');
  const { last } = await meter.during(landings.allLanded());
  await checkLanded(site, base, approved, 'approved');
  const rate = APPROVED / seconds(last - begun);
  yield { name: `${APPROVED} land beside ${OPEN - APPROVED} that wait`, value: rate, unit: 'changes/s' };
  yield { name: `  against ${SMALL} alone`, value: rate / small, unit: 'times as fast' };
  yield* await meter.rows('  meanwhile', APPROVED, 'change');
  const { profile = [] } = PROFILED ? await site.ask('profile') : {};
  for (const { where, ms, share } of profile)
    yield { name: `  ${(share * 100).toFixed(1)} % ${where}`, value: ms, unit: 'ms' };
  yield { name: 'load average', value: loadavg()[0] ?? 0, unit: '' };
}

function seconds(milliseconds: number): number {
  return milliseconds / 1000;
}

/** @returns changes per second, from the push to the last landing. */
async function land(site: GateSite, count: number, name: string): Promise<number> {
  const commits = await makeChanges(site, count, name);
  const base = await tipOf(site);
  const landings = watchLandings(site, name);
  const begun = performance.now();
  await pushChanges(site, commits, name, true);
  const { last } = await landings.allLanded();
  await checkLanded(site, base, commits, name);
  return count / seconds(last - begun);
}

/** As an operator on the machine of the service. */
async function operate({ config }: GateSite, verb: 'pause' | 'resume', pipeline: string): Promise<void> {
  const reason = verb === 'pause' ? ['--reason', 'bench'] : [];
  const line = ['pipeline', verb, pipeline, '--tenant', TENANT, '--config', config, ...reason];
  await run(process.execPath, [MAIN, ...line]);
}

type Sizes = Readonly<Record<string, number>>;

async function sizesOf({ url }: GateSite): Promise<Sizes> {
  const { pipelines } = (await (await fetch(`${url}${PAGE}`)).json()) as StatusDocument;
  return Object.fromEntries(pipelines.map(({ name, gatehouse }) => [name, gatehouse.items]));
}

const STATUS = `/api/tenant/${TENANT}/status`;
const PAGE = `${STATUS}?limit=100`;
const STREAM = `/api/tenant/${TENANT}/events`;

/** How long the answers take and how large they are: the best of some, all with the queue as it is. */
async function lookRows({ url }: GateSite): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const [name, address] of [
    ['page of the status', PAGE],
    ['whole status', STATUS],
    ['beginning of the stream of the page', STREAM],
  ] as const) {
    const times: number[] = [];
    let bytes = 0;
    for (let time = 0; time < LOOKS; time++) {
      const begun = performance.now();
      bytes = await sizeOfAnswer(`${url}${address}`);
      times.push(performance.now() - begun);
    }
    rows.push(
      { name, value: Math.min(...times), unit: 'ms' },
      { name: '  size', value: bytes / 1000, unit: 'kB' },
    );
  }
  return rows;
}

const LOOKS = 5;

/** Of a stream its first event, which ends with an empty line. */
async function sizeOfAnswer(url: string): Promise<number> {
  const stop = new AbortController();
  const response = await fetch(url, { signal: stop.signal });
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  let text = '';
  for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += part;
    if (isStream && /\ndata: .*\n\n/.test(text)) break;
  }
  stop.abort();
  return Buffer.byteLength(text);
}

/** What the service does between two moments. */
async function createMeter(site: GateSite) {
  let before = await site.ask('figures');
  let helpersBefore = 0;
  let [stall, resident] = [0, 0];

  async function figures(): Promise<GateAnswer> {
    const answer = await site.ask('figures');
    stall = Math.max(stall, answer.stall);
    resident = Math.max(resident, answer.resident);
    return answer;
  }

  return {
    async begin() {
      before = await figures();
      helpersBefore = await site.helperTime(before.helpers);
      [stall, resident] = [0, 0];
    },
    /** Looks on while something else happens. */
    async during<T>(happening: Promise<T>): Promise<T> {
      let over = false;
      void happening
        .finally(() => {
          over = true;
        })
        .catch(() => {});
      while (!over) {
        await figures();
        await Promise.race([delay(LOOK), happening]);
      }
      return happening;
    },
    /** Until the pipelines have so many items, and none of these is written any more. */
    async untilStanding(wanted: Sizes): Promise<void> {
      let moved = performance.now();
      for (let [seen, quiet] = ['', 0]; quiet < QUIET; ) {
        await delay(LOOK);
        const sizes = await sizesOf(site);
        const { written } = await figures();
        const items = Object.entries(written).flatMap(([what, { operations }]) =>
          / items/.test(what) ? [operations] : [],
        );
        const now = JSON.stringify([sizes, items]);
        const isWhole = Object.entries(wanted).every(([pipeline, size]) => (sizes[pipeline] ?? 0) >= size);
        quiet = isWhole && now === seen ? quiet + 1 : 0;
        if (now !== seen) moved = performance.now();
        if (performance.now() - moved > STALLED) throw new Error(`it stands at ${now}`);
        seen = now;
      }
    },
    /** @param per for the figures of each. */
    async rows(name: string, count: number, per: string): Promise<readonly Row[]> {
      const after = await figures();
      const helpers = (await site.helperTime(after.helpers)) - helpersBefore;
      const each = (of: (answer: GateAnswer) => number) => (of(after) - of(before)) / count;
      const row = (what: string, value: number, unit = `per ${per}`): Row => ({
        name: `${name}: ${what}`,
        value,
        unit,
      });
      return [
        row(
          'processor time of the service, ms',
          each(({ user, system }) => user + system),
        ),
        row('processor time of helpers, git and jobs, ms', helpers / count),
        row(
          'store transactions',
          each(({ transactions }) => transactions),
        ),
        ...mostWritten(before, after).map(([what, operations]) => row(`  ${what}`, operations / count)),
        row('written to the store, kB', each(({ bytes }) => bytes) / 1000),
        row(
          'store reads',
          each(({ reads }) => reads),
        ),
        row(
          'requests to the code host',
          each(({ roundTrips }) => roundTrips),
        ),
        row('longest hold of the event loop', stall, 'ms'),
        row('most resident memory', resident / 1e6, 'MB'),
      ];
    },
  };
}

type Written = readonly (readonly [what: string, operations: number])[];

function mostWritten({ written: before }: GateAnswer, { written: after }: GateAnswer): Written {
  return Object.entries(after)
    .map(([what, { operations }]) => [what, operations - (before[what]?.operations ?? 0)] as const)
    .filter(([, operations]) => operations > 0)
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, MOST_WRITTEN);
}

const MOST_WRITTEN = 5;
/** Looks in a row without a change. */
const QUIET = 6;
