/**
 * The store, replayed from its transaction log: what is there, who may write what, and who did.
 *
 * The rules are written down again here, apart from the code that obeys them: a commit under a fence is a multi that sets
 * `<fence>/lastOp`, and only the session that set `<fence>/epoch` last may make one.
 */
import type { LoggedOperation, LoggedTransaction } from './transaction-log.ts';

interface ReplayedNode {
  readonly data: Buffer;
  /** Session of an ephemeral node. */
  readonly owner: string | undefined;
}

interface Commit {
  /** Path of what the fence protects, e.g. `/gatehouse/tenants/acme/pipelines/gate`. */
  readonly fence: string;
  readonly transaction: LoggedTransaction;
}

interface Term {
  readonly fence: string;
  readonly session: string;
  readonly from: LoggedTransaction;
}

export interface Replay {
  /** Everything that is there. */
  readonly nodes: ReadonlyMap<string, ReplayedNode>;
  readonly commits: readonly Commit[];
  /** In the order they began. */
  readonly terms: readonly Term[];
  /** Sessions that are open. */
  readonly sessions: ReadonlySet<string>;
  /** One sentence per write by a session that was not in charge; empty when all is well. */
  readonly trespasses: readonly string[];
}

export function replay(transactions: readonly LoggedTransaction[]): Replay {
  const nodes = new Map<string, ReplayedNode>();
  const sessions = new Set<string>();
  const holders = new Map<string, string>();
  const commits: Commit[] = [];
  const terms: Term[] = [];
  const trespasses: string[] = [];
  for (const transaction of transactions) {
    const { session } = transaction;
    if (transaction.kind === 'session-begins') sessions.add(session);
    if (transaction.kind === 'session-ends') {
      sessions.delete(session);
      for (const [path, node] of nodes) if (node.owner === session) nodes.delete(path);
    }
    for (const operation of transaction.operations) apply(operation, session, nodes);
    for (const fence of fencesRaised(transaction)) {
      holders.set(fence, session);
      terms.push({ fence, session, from: transaction });
    }
    for (const fence of fencesUsed(transaction)) {
      commits.push({ fence, transaction });
      if (holders.get(fence) !== session)
        trespasses.push(
          `${session} wrote under ${fence} at ${transaction.zxid}, held by ${holders.get(fence)}`,
        );
    }
  }
  return { nodes, commits, terms, sessions, trespasses };
}

function apply(operation: LoggedOperation, session: string, nodes: Map<string, ReplayedNode>): void {
  switch (operation.kind) {
    case 'create':
      nodes.set(operation.path, { data: operation.data, owner: operation.ephemeral ? session : undefined });
      return;
    case 'set':
      nodes.set(operation.path, { data: operation.data, owner: nodes.get(operation.path)?.owner });
      return;
    case 'delete':
      nodes.delete(operation.path);
      return;
    case 'check':
      return;
  }
}

export function fencesRaised(transaction: LoggedTransaction): readonly string[] {
  return setsOf(transaction, '/epoch');
}

export function fencesUsed(transaction: LoggedTransaction): readonly string[] {
  return setsOf(transaction, '/lastOp');
}

function setsOf({ operations }: LoggedTransaction, suffix: string): readonly string[] {
  return operations.flatMap(operation =>
    operation.kind === 'set' && operation.path.endsWith(suffix)
      ? [operation.path.slice(0, -suffix.length)]
      : [],
  );
}
