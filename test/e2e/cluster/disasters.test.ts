/**
 * What befalls a site of many processes: workers and webs die or hang while they do something, the store is away for longer
 * than a session, no scheduler is left, everything is restarted. It goes on by itself, and the outcome does not show it.
 *
 * Check 11 deals six blows, each kind once (kill and freeze of an executor, a merger, a web that work): more take a session's timeout
 * and a start of a process each, and GATEHOUSE_BLOWS deals them. Their order and moments are drawn from a seed that is the same in
 * every run; GATEHOUSE_KILL_SEED draws others.
 */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { describeOnZooKeeper } from '../../setup/zookeeper.ts';
import { itemsInHistory } from '../landed.ts';
import { seededRandom } from '../seeded-random.ts';
import type { Cluster } from './cluster.ts';
import { dealBlows } from './deal-blows.ts';
import { startFlow } from './flow.ts';
import { killAmidMerge } from './kill-amid-merge.ts';
import { PROJECTS, TENANT } from './layout.ts';
import { planChanges } from './load.ts';
import { problemsOf, untilQuiet } from './outcome.ts';
import { builtByTheDead, claimer, worksOf } from './reported-losses.ts';
import { isRetried, retriedBuildProblems } from './retried-builds.ts';
import { SESSION_TIMEOUT, stateOf } from './settings-text.ts';
import { replay } from './store-replay.ts';
import { storyCluster } from './story-cluster.ts';
import { claimers, recover, type Struck, strike } from './strike.ts';
import { useStory } from './use-story.ts';
import { waitFor } from './wait-for.ts';

const SEED = Number(process.env.GATEHOUSE_KILL_SEED ?? 20_261_122);
/** GATEHOUSE_BLOWS: more of them strike schedulers, too, and several processes at a time. */
const BLOWS = Number(process.env.GATEHOUSE_BLOWS ?? 6);
const ONE_BY_ONE = 6;
/** Enough for each blow to strike something at work: a change costs half a second of a processor. */
const CHANGES_PER_BLOW = 2;
/** Milliseconds until the jobs of a killed executor are dead. */
const JOBS_LIMIT = 5_000;
/** Milliseconds in which a webhook is refused while the store is away. */
const REFUSAL_LIMIT = 8_000;
/** Milliseconds a push that had begun may take. */
const UNDER_WAY = 2_000;
/** Milliseconds the service gives itself for a stop. */
const STOP_LIMIT = 15_000;

describeOnZooKeeper(`disasters (seed ${SEED})`, () => {
  const story = useStory(() => storyCluster({ separateMirrors: false }));

  test('check 11: kill -9 and SIGSTOP of executors, mergers and webs at work change no outcome; lost builds end and are tried again', {
    timeout: 300_000 + BLOWS * 15_000,
  }, async () => {
    const { cluster, terms } = story();
    const blows = dealBlows(cluster, terms, seededRandom(SEED), BLOWS);
    const flow = startFlow(cluster, planChanges(CHANGES_PER_BLOW * blows.length, 'blow'), 0);
    const recoveries: Promise<void>[] = [];
    const strikes: Struck[] = [];
    for (const { how, choose, delay } of blows) {
      const striking = strike(cluster, terms, how, choose, delay);
      flow.allow(CHANGES_PER_BLOW);
      const struck = await Promise.race([striking, flow.done.then(() => striking)]);
      strikes.push(struck);
      process.stdout.write(`${how} of ${struck.victim.name}\n`);
      if (struck.victim.roles.includes('executor') && how === 'kill')
        await waitFor(
          'its jobs to be gone',
          async () => (await jobsOf(cluster.root, struck.victim.name)) === 0,
          JOBS_LIMIT,
        );
      recoveries.push(recover(cluster, terms, struck));
      // A few at a time, the next one while the last one is not well yet; but one by one where there are few.
      if (BLOWS <= ONE_BY_ONE || recoveries.length % 3 === 0) await Promise.all(recoveries);
    }
    await Promise.all(recoveries);
    await flow.done;
    await untilQuiet(cluster);
    expect(await problemsOf(cluster)).toEqual([]);
    expect(retriedBuildProblems(cluster.sink.spans)).toEqual([]);
    // The blows of every run kill an executor that has builds.
    expect(cluster.sink.spans.filter(isRetried).length).toBeGreaterThan(0);
    const items = await itemsInHistory(stateOf(cluster.root), TENANT);
    expect(builtByTheDead(items, cluster.log.transactions, strikes)).toEqual([]);
    expect(cluster.sink.spans.some(({ name }) => name === 'Wait executor-lost')).toBe(true);
  });

  test('SIGKILL of a merger amid a merge: its item waits until that is noticed, and another merger makes the merge', {
    timeout: 240_000,
  }, async () => {
    const { cluster, terms } = story();
    const flow = startFlow(cluster, planChanges(6, 'merger'), 0);
    const { struck, request } = await killAmidMerge(cluster, terms, async () => {
      await untilQuiet(cluster);
      flow.allow(1);
    });
    flow.allow(6);
    await flow.done;
    await untilQuiet(cluster);
    // Not before: the other one has to make the merge.
    await recover(cluster, terms, struck);
    expect(await problemsOf(cluster)).toEqual([]);
    const answerer = terms.ownerOf(claimer('merge', request, cluster.log.transactions) ?? '');
    const others = cluster.ofRole('merger').filter(each => each !== struck.victim);
    expect(others.map(({ pid }) => pid)).toContain(answerer);
    const [merge] = worksOf(await itemsInHistory(stateOf(cluster.root), TENANT), request);
    expect(merge?.done).toMatchObject({ outcome: 'merged', losses: [{}] });
    const waits = cluster.sink.spans.filter(({ name }) => name === 'Wait merger-lost');
    expect(waits.filter(({ traceId }) => traceId === merge?.item)).toMatchObject([
      { attributes: { 'gatehouse.wait.subject': 'merge' } },
    ]);
  });

  test('without the store nothing is acknowledged and nothing merged; afterwards all goes on by itself', {
    timeout: 300_000,
  }, async () => {
    const { cluster, server } = story();
    const flow = startFlow(cluster, planChanges(8, 'dark'), 4);
    const before = cluster.log.transactions.length;
    await waitFor('changes to flow', () => cluster.log.transactions.length > before + 40);
    await server.kill();
    const downSince = Date.now();
    // People go on pushing; no web takes their webhooks.
    flow.allow(8);
    let number = 0;
    while (Date.now() - downSince < 2 * SESSION_TIMEOUT * 1000) {
      number += 1;
      const id = `in-the-dark-${number}`;
      await Promise.all(cluster.webs.map(web => cluster.deliveries.tryOnce(web, PROJECTS[0], id)));
      await delay(200);
    }
    const upSince = Date.now();
    const refused = cluster.deliveries.attempts.filter(each => each.id.startsWith('in-the-dark'));
    expect(refused.filter(each => each.status !== 503 || each.tookMs > REFUSAL_LIMIT)).toEqual([]);
    expect(landings(cluster, downSince + UNDER_WAY, upSince)).toEqual([]);

    await server.restart();
    await flow.done;
    await untilQuiet(cluster);
    expect(await problemsOf(cluster)).toEqual([]);
  });

  test('without a scheduler webhooks are taken, jobs end, and both count afterwards', {
    timeout: 300_000,
  }, async () => {
    const { cluster, terms } = story();
    const plan = planChanges(8, 'orphan');
    const claims = claimers(cluster, terms, 'build');
    const running = Promise.withResolvers<void>();
    using _listening = cluster.log.onTransaction(transaction => {
      if (claims(transaction) !== undefined) running.resolve();
    });
    for (const change of plan.slice(0, 4)) await cluster.push(change);
    await running.promise;
    const schedulers = cluster.ofRole('scheduler');
    await Promise.all(schedulers.map(each => each.kill()));
    const attempts = cluster.deliveries.attempts.length;
    for (const change of plan.slice(4)) await cluster.push(change);
    expect(cluster.deliveries.attempts.slice(attempts).map(each => each.status)).toEqual([
      200, 200, 200, 200,
    ]);
    await waitFor('the jobs to end', () => openClaims(cluster) === 0);
    await Promise.all(schedulers.map(each => each.start()));
    await untilQuiet(cluster);
    expect(await problemsOf(cluster)).toEqual([]);
    // What had run was not run again.
    const items = await itemsInHistory(stateOf(cluster.root), TENANT);
    const mine = items.filter(item => item.changes[0].key.includes('orphan'));
    expect(mine).toHaveLength(plan.length);
    const repeated = mine.flatMap(item => item.buildset.builds.filter(build => build.attempt > 1));
    expect(repeated.map(build => build.job)).toEqual([]);
  });

  test('a restart of every process, one after the other, loses no change and ends each in time', {
    timeout: 300_000,
  }, async () => {
    const { cluster, terms } = story();
    const flow = startFlow(cluster, planChanges(cluster.processes.length, 'upgrade'), 0);
    const stops: { readonly name: string; readonly status: string; readonly tookMs: number }[] = [];
    for (const each of cluster.processes) {
      const before = cluster.log.transactions.length;
      flow.allow(1);
      await waitFor('something to go on', () => cluster.log.transactions.length > before + 20);
      stops.push({ name: each.name, ...(await each.stop()) });
      await each.start();
      await waitFor(`${each.name} to be there again`, () => terms.sessionsOf(each.pid ?? 0).length > 0);
    }
    await flow.done;
    await untilQuiet(cluster);
    expect(stops.filter(stop => stop.status !== '0' || stop.tookMs > STOP_LIMIT)).toEqual([]);
    expect(await problemsOf(cluster)).toEqual([]);
  });
});

/** Processes that work in the job directories of an executor. */
async function jobsOf(root: string, executor: string): Promise<number> {
  const directory = path.join(root, 'jobs', executor);
  const pids = (await readdir('/proc')).filter(name => /^\d+$/.test(name));
  const commands = await Promise.all(
    pids.map(pid => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')), // ended meanwhile
  );
  return commands.filter(command => command.includes(directory)).length;
}

/** Commits that came to a branch in that time. */
function landings({ journal }: Cluster, from: number, to: number): readonly string[] {
  return journal.changes
    .filter(change => change.ref === 'refs/heads/master')
    .filter(change => change.at > BigInt(from) * 1_000_000n && change.at < BigInt(to) * 1_000_000n)
    .map(change => `${change.repository} ${change.new}`);
}

function openClaims({ log, storeRoot }: Cluster): number {
  const claims = `${storeRoot}/requests/build/default/claimed/`;
  return [...replay(log.transactions).nodes.keys()].filter(each => each.startsWith(claims)).length;
}
