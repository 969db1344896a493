/** Terrible things that happen to one process, at the moment the store's log shows what it is doing. */
import type { Cluster } from './cluster.ts';
import type { Moment } from './moments.ts';
import type { ClusterProcess } from './process.ts';
import { sessionsOf } from './sessions-of.ts';
import type { TermWatch } from './term-watch.ts';
import type { LoggedTransaction } from './transaction-log.ts';
import { waitFor } from './wait-for.ts';

export type Blow = 'kill' | 'freeze';

export interface Struck {
  readonly victim: ClusterProcess;
  /** It was that process then. */
  readonly pid: number;
  readonly how: Blow;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Its registered sessions at that time. */
  readonly sessions: ReadonlySet<string>;
}

/** The process to strike, chosen by what happens; undefined: none yet. */
export type Choice = (transaction: LoggedTransaction) => ClusterProcess | undefined;

/** Strikes whom `choose` names first, after `delay` further transactions. */
export async function strike(
  cluster: Cluster,
  terms: TermWatch,
  how: Blow,
  choose: Choice,
  delay = 0,
): Promise<Struck> {
  const { promise, resolve } = Promise.withResolvers<Struck>();
  let chosen: ClusterProcess | undefined;
  let rest = delay;
  using _listening = cluster.log.onTransaction(transaction => {
    if (chosen?.pid === undefined) {
      chosen = choose(transaction);
      rest = delay;
    }
    if (chosen === undefined || rest-- > 0) return;
    const struck = hit(chosen, how, terms);
    if (struck !== undefined) resolve(struck);
  });
  const struck = await promise;
  if (how === 'kill') await struck.victim.kill();
  return struck;
}

/** Strikes the process that `choose` names when the moment comes. */
export async function strikeAt(
  moment: Moment,
  how: Blow,
  terms: TermWatch,
  choose: () => ClusterProcess | undefined,
): Promise<Struck> {
  let struck: Struck | undefined;
  await moment.when(() => {
    const victim = choose();
    struck = victim === undefined ? undefined : hit(victim, how, terms);
    return struck !== undefined;
  });
  if (struck === undefined) throw new Error(`no process was struck at ${moment.name}`);
  if (how === 'kill') await struck.victim.kill();
  return struck;
}

/** @returns undefined when it does not run. */
function hit(victim: ClusterProcess, how: Blow, terms: TermWatch): Struck | undefined {
  const { pid } = victim;
  if (pid === undefined) return undefined;
  const at = Date.now();
  process.kill(pid, how === 'kill' ? 'SIGKILL' : 'SIGSTOP');
  return { victim, pid, how, at, sessions: new Set(terms.sessionsOf(pid)) };
}

/** Processes that take a request of this kind. */
export function claimers(cluster: Cluster, terms: TermWatch, kind: 'merge' | 'build'): Choice {
  const claims = `${cluster.storeRoot}/requests/${kind}/default/claimed/`;
  return writers(cluster, terms, claims);
}

/** Processes that make a node below `prefix`. */
export function writers(cluster: Cluster, terms: TermWatch, prefix: string): Choice {
  return transaction => {
    if (!transaction.operations.some(each => each.kind === 'create' && each.path.startsWith(prefix)))
      return undefined;
    const pid = terms.ownerOf(transaction.session);
    return cluster.processes.find(each => each.pid !== undefined && each.pid === pid);
  };
}

/** Starts it again, or lets it go on once the store has given it up; returns when it is registered anew. */
export async function recover(cluster: Cluster, terms: TermWatch, struck: Struck): Promise<void> {
  const { victim, how, sessions } = struck;
  if (how === 'freeze') {
    const old = new Set([...sessions, ...(await sessionsOf(struck.pid, cluster.zookeeper))]);
    await waitFor(`the sessions of ${victim.name} to end`, () => {
      const ended = cluster.log.transactions.filter(each => each.kind === 'session-ends');
      return [...old].every(session => ended.some(each => each.session === session));
    });
    victim.thaw();
    await waitFor(`${victim.name} to come back`, () =>
      terms.sessionsOf(struck.pid).some(session => !old.has(session)),
    );
    return;
  }
  await victim.start();
  await waitFor(`${victim.name} to be there again`, () => terms.sessionsOf(victim.pid ?? 0).length > 0);
}
