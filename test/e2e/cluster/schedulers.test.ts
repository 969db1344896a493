/**
 * Two schedulers, of which one holds the gate: eighteen changes flow undisturbed; eighteen flow while the holder is killed again
 * and again; the holder sleeps for three session timeouts. The outcome is always the same.
 *
 * Four kills, because after each the other has to wait for the session of the dead one to end; GATEHOUSE_KILLS=20 makes it twenty.
 * Each comes at the n-th happening of a kind (`moments.ts`), kinds and numbers drawn from a seed that is the same in every run and
 * was chosen for its kinds: a span sent, a commit of the gate, a build taken, a note written. GATEHOUSE_KILL_SEED draws others.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { expect, test } from 'vitest';
import { slowness } from '../../fake/slowness.ts';
import { describeOnZooKeeper } from '../../setup/zookeeper.ts';
import { itemsInHistory } from '../landed.ts';
import { seededRandom } from '../seeded-random.ts';
import type { Cluster } from './cluster.ts';
import { startFlow } from './flow.ts';
import { TENANT } from './layout.ts';
import { planChanges } from './load.ts';
import { chooseMoments } from './moments.ts';
import { problemsOf, unseenItems, untilQuiet } from './outcome.ts';
import { missingTakeovers, reportsOf, type SchedulerLost } from './reported-losses.ts';
import { sessionsOf } from './sessions-of.ts';
import { SESSION_TIMEOUT, stateOf } from './settings-text.ts';
import { storyCluster } from './story-cluster.ts';
import { recover, strikeAt } from './strike.ts';
import { gateFence, takeoverIn } from './term-watch.ts';
import type { LoggedTransaction } from './transaction-log.ts';
import { useStory } from './use-story.ts';
import { waitFor } from './wait-for.ts';

const KILLS = Number(process.env.GATEHOUSE_KILLS ?? 4);
const SEED = Number(process.env.GATEHOUSE_KILL_SEED ?? 20_261_289);
/** Among eighteen are broken ones and two in conflict; more show the same, each for half a second of a processor. */
const CHANGES = Math.max(18, Math.ceil(1.5 * KILLS));
/** Milliseconds. On a quiet machine 2 s after the session of the one before has ended. */
const takeoverLimit = () => (SESSION_TIMEOUT + 2 * slowness()) * 1000;

describeOnZooKeeper(`two of each component (seed ${SEED})`, () => {
  const story = useStory(() => storyCluster());

  test(`merge ${CHANGES} changes as one would`, { timeout: 240_000 }, async () => {
    const { cluster, terms } = story();
    for (const { pid, name } of cluster.processes)
      expect(terms.sessionsOf(pid ?? 0).length, name).toBeGreaterThan(0);
    await startFlow(cluster, planChanges(CHANGES, 'undisturbed')).done;
    await untilQuiet(cluster);
    expect(await problemsOf(cluster)).toEqual([]);
    expect(await unseenItems(cluster)).toEqual([]);
    expect(new Set(terms.holdersOf(gateFence(cluster))).size).toBe(1);
  });

  test(`check 10: kill -9 of the scheduler in charge, ${KILLS} times in ${CHANGES} changes, changes no outcome`, {
    timeout: 240_000 + KILLS * 30_000,
  }, async () => {
    const { cluster, terms } = story();
    const moments = chooseMoments(cluster, seededRandom(SEED));
    const flow = startFlow(cluster, planChanges(CHANGES, 'kill'), 0);
    const late: string[] = [];
    const losses: SchedulerLost[] = [];
    let allowed = 0;
    for (let number = 1; number <= KILLS; number++) {
      const portion = Math.ceil((number * CHANGES) / (KILLS + 1)) - allowed;
      const moment = moments.next(portion);
      const striking = strikeAt(moment, 'kill', terms, () => terms.holder(gateFence(cluster)));
      allowed += portion;
      flow.allow(portion);
      using starved = starvation();
      const struck = await Promise.race([striking, flow.done.then(() => striking)]);
      const takeover = await waitFor(`the gate to be taken over after ${moment.name}`, () =>
        takeoverIn(cluster.log.transactions, gateFence(cluster), struck.sessions, struck.at),
      );
      const failure = `${struck.victim.name} killed at: ${moment.name}; epoch raised after ${takeover.raisedMs} ms, first commit after ${takeover.committedMs} ms`;
      process.stdout.write(`${failure}\n`);
      losses.push({ struck, takeover });
      if (takeover.committedMs > takeoverLimit() + starved.worstMs()) late.push(failure);
      await recover(cluster, terms, struck);
    }
    flow.allow(CHANGES);
    await flow.done;
    await untilQuiet(cluster);
    expect(await problemsOf(cluster)).toEqual([]);
    expect(await unseenItems(cluster)).toEqual([]);
    expect(late).toEqual([]);
    const items = await itemsInHistory(stateOf(cluster.root), TENANT);
    expect(losses.flatMap(loss => missingTakeovers(items, loss))).toEqual([]);
    expect(losses.reduce((sum, loss) => sum + reportsOf(items, loss), 0)).toBeGreaterThan(0);
  });

  test('SIGSTOP of the scheduler in charge for three session timeouts: it writes nothing and does nothing afterwards', {
    timeout: 300_000,
  }, async () => {
    const { cluster, terms, server } = story();
    const flow = startFlow(cluster, planChanges(9, 'sleep'), 0);
    const moments = chooseMoments(cluster, seededRandom(SEED));
    const moment = moments.next(3);
    const striking = strikeAt(moment, 'freeze', terms, () => terms.holder(gateFence(cluster)));
    flow.allow(3);
    const { victim, pid, at, sessions } = await striking;
    // Every session it has, not only those it is known by.
    const old = new Set([...(await sessionsOf(pid, server)), ...sessions]);
    await waitFor('the other scheduler to take over', () =>
      takeoverIn(cluster.log.transactions, gateFence(cluster), old, at),
    );
    // Enough to do for the other one, so that there is something the sleeper could spoil.
    flow.allow(3);
    await waitFor('three session timeouts to pass', () => Date.now() - at > 3 * SESSION_TIMEOUT * 1000);
    flow.allow(3);
    const thawedAt = Date.now();
    victim.thaw();
    await waitFor('it to come back with a new session', () => {
      return terms.sessionsOf(pid).some(session => !old.has(session));
    });
    await flow.done;
    await untilQuiet(cluster);

    const afterwards = (await cluster.log.read()).filter(each => each.at >= thawedAt);
    expect(afterwards.filter(each => old.has(each.session) && each.kind !== 'session-ends')).toEqual([]);
    const own = new Set([...(await sessionsOf(pid, server)), ...terms.sessionsOf(pid)]);
    expect(foreignWrites(afterwards, own)).toEqual([]);
    expect(effectsOf(cluster, pid, thawedAt)).toEqual([]);
    expect(await problemsOf(cluster)).toEqual([]);

    // It is of use again: it goes on when the other one dies.
    const next = startFlow(cluster, planChanges(3, 'again'), 0);
    const killing = strikeAt(moments.next(3), 'kill', terms, () => terms.holder(gateFence(cluster)));
    next.allow(3);
    const killed = await killing;
    expect(killed.victim.name).not.toBe(victim.name);
    await next.done;
    await untilQuiet(cluster);
    const takeover = takeoverIn(cluster.log.transactions, gateFence(cluster), killed.sessions, killed.at);
    expect(own.has(takeover?.by ?? '')).toBe(true);
    expect(await problemsOf(cluster)).toEqual([]);
  });
});

/** How long this machine let a process wait that had something to do: a lower bound for every reaction. */
function starvation(): Disposable & { worstMs(): number } {
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  return { worstMs: () => delay.max / 1e6, [Symbol.dispose]: () => void delay.disable() };
}

/** What a process that stands by may write: its registration and its place in the lock. */
const OWN_PLACE = /\/(components\/[^/]+|elections\/[^/]+|lock|election)(\/|$)/;

function foreignWrites(
  transactions: readonly LoggedTransaction[],
  sessions: ReadonlySet<string>,
): readonly string[] {
  return transactions
    .filter(each => sessions.has(each.session))
    .flatMap(each => each.operations.filter(operation => !OWN_PLACE.test(operation.path)))
    .map(operation => `${operation.kind} ${operation.path}`);
}

/** Refs a process or something it had started changed since then. */
function effectsOf(cluster: Cluster, pid: number, since: number): readonly string[] {
  return cluster.journal.changes
    .filter(change => change.at >= BigInt(since) * 1_000_000n && change.processes.includes(pid))
    .map(change => `${change.repository} ${change.ref}`);
}
