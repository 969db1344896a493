/**
 * Check 10: kill -9 of the service, its scheduler with it, at any moment of a gate run: the next start goes on where it was, with the
 * same outcome, the same ids and the original times; no span is lost and none differs from its repeat. No job is reported as running while
 * the service was dead, and each item that was there names the takeover. Of many schedulers one is
 * killed in `test/e2e/cluster/schedulers.test.ts`, at every single call of the store in `test/simulation`.
 *
 * Five kills, because each takes a start of the service, seconds on a slow machine; GATEHOUSE_KILLS=20 makes it twenty. Each comes
 * after a number of changes of the live view, so that it falls where things happen: the same numbers in every run, drawn from a seed
 * (GATEHOUSE_KILL_SEED draws others). What lies between `state written` and `span sent` is struck in the simulation, call by call.
 */

import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createApi } from '../../src/cmd/client/api.ts';
import { followTenant } from '../../src/cmd/client/follow.ts';
import { DEMO_CHANGES } from '../../src/cmd/quickstart/demo-changes.ts';
import { TENANT } from '../../src/cmd/quickstart/demo-files.ts';
import { approve, commitTopic, propose } from '../../src/cmd/quickstart/developer.ts';
import { prepareSite, type Site } from '../../src/cmd/quickstart/prepare-site.ts';
import {
  freePort,
  type ServiceProcess,
  startServiceProcess,
  waitUntilReady,
} from '../../src/cmd/quickstart/service-process.ts';
import { itemSpans } from '../../src/tracing/spans/item-spans.ts';
import { brokenChains, itemRoots, unfinished } from '../e2e/event-chains.ts';
import { itemProblems, itemsInHistory, landedCommits, landedTwice, untestedLandings } from '../e2e/landed.ts';
import { beginOfExecutor, type DeadTime, timeProblems } from '../e2e/reported-times.ts';
import { seededRandom } from '../e2e/seeded-random.ts';
import { checkTraces, type OtlpSink, startOtlpSink } from '../fake/otlp-sink.ts';
import { noteStory } from '../fake/produced/note-story.ts';
import { builtProgram } from '../setup/built-program.ts';

const KILLS = Number(process.env.GATEHOUSE_KILLS ?? 5);
const SEED = Number(process.env.GATEHOUSE_KILL_SEED ?? 20_261_122);
/** Changes of the view the kills are spread over: fewer than the shortest run has, so that each kill finds something going on. */
const SPREAD = 24;
/** Milliseconds of one wait; a loaded machine starts the service in seconds. */
const DEADLINE = 90_000;

interface Sighting {
  readonly enqueuedAt: number;
}

describe(`kill -9 of the service (seed ${SEED})`, () => {
  let directory: string;
  let site: Site;
  let sink: OtlpSink;
  let service: ServiceProcess;

  beforeEach(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'gatehouse-kill-'));
    sink = await startOtlpSink();
    site = await prepareSite({
      directory: path.join(directory, 'site'),
      port: await freePort(0),
      token: 'token of the kill test',
      logLevel: 'info',
    });
    service = await start();
  });
  afterEach(async () => {
    await kill();
    noteStory(sink.spans);
    await sink[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  });

  async function start(): Promise<ServiceProcess> {
    const started = await startServiceProcess(
      site.config,
      path.join(directory, 'gatehouse.log'),
      { ...process.env, OTEL_EXPORTER_OTLP_ENDPOINT: sink.url },
      await builtProgram(),
    );
    await waitUntilReady(site.url, started, DEADLINE);
    return started;
  }

  async function kill(): Promise<void> {
    try {
      process.kill(service.pid, 'SIGKILL');
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
    }
    await service.exited;
  }

  test('check 10: changes no outcome, loses no span and doubles none', {
    timeout: (KILLS + 4) * DEADLINE,
  }, async () => {
    const random = seededRandom(SEED);
    const seen = new Map<string, Sighting>();
    const commits = new Map<string, string>();
    for (const change of DEMO_CHANGES)
      commits.set(
        change.topic,
        await commitTopic(site.clone(change.project), change.topic, change.subject, change.files),
      );
    for (const change of DEMO_CHANGES) await propose(site.clone(change.project), change.topic);
    await lookUntil(site, seen, view => ended(view, 'check') >= DEMO_CHANGES.length);
    for (const change of DEMO_CHANGES) {
      await approve(site.clone(change.project), change.topic);
      await lookUntil(site, seen, view => view.gate.has(`${change.project} master/${change.topic}`));
    }

    let kills = 0;
    const dead: DeadTime[] = [];
    for (; kills < KILLS; kills++) {
      let steps = 2 + Math.floor(random() * (SPREAD / KILLS));
      const done = await lookUntil(
        site,
        seen,
        view => ended(view, 'gate') >= DEMO_CHANGES.length || --steps <= 0,
      );
      if (ended(done, 'gate') >= DEMO_CHANGES.length) break;
      await kill();
      const [diedAt, printed] = [Date.now(), logOf(directory).length];
      service = await start();
      const begins = beginOfExecutor(logOf(directory).slice(printed), diedAt);
      dead.push({ from: BigInt(diedAt) * 1_000_000n, to: BigInt(begins) * 1_000_000n });
    }
    expect(kills).toBeGreaterThanOrEqual(Math.min(KILLS, 3));
    await lookUntil(site, seen, view => ended(view, 'gate') >= DEMO_CHANGES.length && view.live === 0);
    await service.stop();

    const items = await itemsInHistory(path.join(directory, 'site/state'), TENANT);
    const gate = items
      .filter(item => item.pipeline === 'gate')
      .toSorted((a, b) => Number(BigInt(a.enqueuedAt) - BigInt(b.enqueuedAt)));
    // The same outcome, in the same order, each item once.
    expect(
      gate.map(item => [
        item.changes[0].kind === 'change' ? item.changes[0].id : '',
        item.phase.phase === 'left' ? item.phase.result : 'open',
      ]),
    ).toEqual([
      ['master/greeting', 'SUCCESS'],
      ['master/rename-total', 'SUCCESS'],
      ['master/discount', 'FAILURE'],
      ['master/basket-route', 'SUCCESS'],
      ['master/total-in-euros', 'MERGE_CONFLICT'],
      ['master/health-details', 'SUCCESS'],
    ]);
    expect(new Set(items.map(item => item.uuid)).size).toBe(items.length);
    expect(items.flatMap(itemProblems)).toEqual([]);
    // Ids and times are those from before the kills.
    for (const item of items) {
      const sighting = seen.get(item.uuid);
      if (sighting !== undefined)
        expect(Number(BigInt(item.enqueuedAt) / 1000n) / 1000).toBeCloseTo(sighting.enqueuedAt, 2);
    }
    for (const item of gate) expect(seen.has(item.uuid)).toBe(true);

    for (const project of ['acme/app', 'acme/api']) {
      const landed = await landedCommits(site.repositories.get(project) ?? '');
      expect(landedTwice(landed)).toEqual([]);
      expect(untestedLandings(landed, project, items)).toEqual([]);
      const expected = DEMO_CHANGES.filter(
        change => change.project === project && change.expected === 'merged',
      ).map(change => commits.get(change.topic));
      expect(landed.map(each => each.head)).toEqual(expected);
    }

    const open = unfinished(sink.spans);
    expect(open.map(span => span.name)).toEqual([]);
    expect(checkTraces(sink.spans, { repeatsAllowed: true })).toEqual([]);
    expect(brokenChains(sink.spans)).toEqual([]);
    const arrived = new Set(sink.spans.map(span => span.spanId));
    const lost = items.flatMap(item => itemSpans(item)).filter(span => !arrived.has(span.spanId));
    expect(lost.map(span => `${span.name} of trace ${span.traceId}`)).toEqual([]);
    const traces = Map.groupBy(unrepeated(sink.spans), ({ traceId }) => traceId);
    expect(items.flatMap(item => timeProblems(item, traces.get(item.uuid) ?? [], dead))).toEqual([]);
    expect(items.some(({ takeovers }) => takeovers !== undefined)).toBe(true);
    const roots = itemRoots(sink.spans);
    for (const item of items) {
      const copies = roots.get(item.uuid) ?? [];
      expect(copies.length).toBeGreaterThan(0);
      for (const root of copies)
        expect(root).toMatchObject({
          start: BigInt(item.enqueuedAt),
          end: item.phase.phase === 'left' ? BigInt(item.phase.at) : 0n,
        });
    }

    expect(
      await readdir(path.join(directory, 'site/state/jobs')).then(names =>
        names.filter(name => !name.startsWith('.')),
      ),
    ).toEqual([]);
    expect(await processesMentioning(directory)).toEqual([]);
  });
});

const logOf = (directory: string) => readFileSync(path.join(directory, 'gatehouse.log'), 'utf8');

/** What was sent again came once more. */
function unrepeated<S extends { readonly spanId: string }>(spans: readonly S[]): readonly S[] {
  return [...new Map(spans.map(span => [span.spanId, span])).values()];
}

interface LookedAt {
  /** Left, by pipeline. */
  readonly left: ReadonlyMap<string, number>;
  /** Project and id of what is in the gate or has left it. */
  readonly gate: ReadonlySet<string>;
  readonly live: number;
}

function ended(view: LookedAt, pipeline: string): number {
  return view.left.get(pipeline) ?? 0;
}

/** Follows the tenant; each change of the view is one poll. Notes when each item it sees was enqueued. */
async function lookUntil(
  site: Site,
  seen: Map<string, Sighting>,
  met: (view: LookedAt) => boolean,
): Promise<LookedAt> {
  const api = createApi(site.url);
  const stop = new AbortController();
  const limit = setTimeout(() => stop.abort(new Error('it did not happen in time')), DEADLINE);
  try {
    for await (const view of followTenant(api, TENANT, stop.signal)) {
      for (const item of view.items.values()) seen.set(item.uuid, { enqueuedAt: item.enqueuedAt });
      // The history trails the live view by a moment: once nothing is live any more, no further view will come.
      for (;;) {
        const looked = await lookAt(site, [...view.items.values()]);
        if (met(looked)) return looked;
        if (view.items.size > 0) break;
        await new Promise(resolve => setTimeout(resolve, 50));
        if (stop.signal.aborted) break;
        if ((await liveItems(site)) > 0) break;
      }
    }
  } finally {
    clearTimeout(limit);
    stop.abort();
  }
  const there = await lookAt(site, []);
  const log = readFileSync(path.join(site.config, '../../../gatehouse.log'), 'utf8')
    .trimEnd()
    .split('\n')
    .slice(-30);
  throw new Error(
    `what was waited for did not happen in time; left: ${JSON.stringify([...there.left])}; the log ends with\n${log.join('\n')}`,
  );
}

type Shown = {
  readonly pipeline: string;
  readonly changes: readonly { readonly project: string; readonly name: string }[];
};

async function lookAt(site: Site, live: readonly Shown[]): Promise<LookedAt> {
  const finished = await createApi(site.url).get<readonly Shown[]>(`/api/tenant/${TENANT}/items?limit=100`);
  const left = new Map<string, number>();
  for (const item of finished) left.set(item.pipeline, (left.get(item.pipeline) ?? 0) + 1);
  const inGate = [...live, ...finished].filter(item => item.pipeline === 'gate');
  return {
    left,
    live: live.length,
    gate: new Set(inGate.map(item => `${item.changes[0]?.project} ${item.changes[0]?.name}`)),
  };
}

async function liveItems(site: Site): Promise<number> {
  const tenants = await createApi(site.url).get<readonly { readonly queue: number }[]>('/api/tenants');
  return tenants.reduce((sum, tenant) => sum + tenant.queue, 0);
}

/** Command lines of processes that work below the directory; the test's own does not name it. */
async function processesMentioning(directory: string): Promise<readonly string[]> {
  const pids = (await readdir('/proc')).filter(name => /^\d+$/.test(name));
  return pids.flatMap(pid => {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      return command.includes(directory) ? [command] : [];
    } catch (error) {
      if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH'))
        return [];
      throw error;
    }
  });
}
