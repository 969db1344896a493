/**
 * Moments at which something terrible may happen: not points in time, which hit nothing on a machine of another speed, but the
 * n-th occurrence of some kind in the store's log or the code host's journal, chosen by a seed.
 */
import type { Cluster } from './cluster.ts';
import { fencesUsed } from './store-replay.ts';
import { gateFence } from './term-watch.ts';
import type { LoggedTransaction } from './transaction-log.ts';

export interface Moment {
  /** For people. */
  readonly name: string;
  /** Acts as soon as it has come; `act` says whether it could, else the next happening of the kind is taken. */
  when(act: () => boolean): Promise<void>;
}

interface Kind {
  readonly name: string;
  /** How often it happens at least while one change goes through the gate. */
  readonly perChange: number;
  readonly of:
    | { readonly transaction: (each: LoggedTransaction, cluster: Cluster) => boolean }
    | { readonly ref: string };
}

const created = (part: string) => ({
  transaction: (each: LoggedTransaction) =>
    each.operations.some(operation => operation.kind === 'create' && operation.path.includes(part)),
});
const deleted = (part: string) => ({
  transaction: (each: LoggedTransaction) =>
    each.operations.some(operation => operation.kind === 'delete' && operation.path.includes(part)),
});

const KINDS: readonly Kind[] = [
  {
    name: 'commit of the gate',
    perChange: 3,
    of: { transaction: (each, cluster) => fencesUsed(each).includes(gateFence(cluster)) },
  },
  { name: 'webhook stored', perChange: 1, of: created('/events/connection/local/queue/') },
  { name: 'connection event forwarded', perChange: 1, of: deleted('/events/connection/local/queue/') },
  { name: 'event for the gate', perChange: 1, of: created('/pipelines/gate/events/') },
  { name: 'item enqueued', perChange: 1, of: created('/pipelines/gate/items/') },
  { name: 'merge asked for', perChange: 1, of: created('/requests/merge/default/queue/') },
  { name: 'report intended', perChange: 1, of: created('/outbox/reports/acme/gate/') },
  { name: 'report carried out', perChange: 1, of: deleted('/outbox/reports/acme/gate/') },
  { name: 'item gone', perChange: 1, of: deleted('/pipelines/gate/items/') },
  { name: 'span sent', perChange: 1, of: deleted('/outbox/spans/') },
  { name: 'note written', perChange: 1, of: { ref: 'refs/notes/gatehouse' } },
];

/** Kinds that not every change has, for when many are under way. */
const SOMETIMES: readonly Kind[] = [
  { name: 'change landed', perChange: 1, of: { ref: 'refs/heads/master' } },
  { name: 'build taken', perChange: 1, of: created('/requests/build/default/claimed/') },
  { name: 'build done', perChange: 1, of: deleted('/requests/build/default/queue/') },
];

export interface Moments {
  /** @param changes that will be under way; the moment comes before they have all gone through the gate. */
  next(changes: number): Moment;
}

/** Each kind comes once before one comes again. */
export function chooseMoments(cluster: Cluster, random: () => number): Moments {
  let deck: readonly Kind[] = [];
  return {
    next(changes) {
      const fits = (kind: Kind) => changes >= 3 || !SOMETIMES.includes(kind);
      if (!deck.some(fits)) deck = [...deck, ...shuffled([...KINDS, ...SOMETIMES], random)];
      const kind = deck.find(fits);
      if (kind === undefined) throw new Error('there are no moments');
      deck = deck.filter(each => each !== kind);
      const surely = SOMETIMES.includes(kind) ? 1 : Math.max(1, Math.floor((changes * kind.perChange) / 2));
      const count = 1 + Math.floor(random() * surely);
      return {
        name: count === 1 ? kind.name : `${kind.name}, number ${count}`,
        when: act => whenHappened(cluster, kind, count, act),
      };
    },
  };
}

function shuffled<T>(values: readonly T[], random: () => number): readonly T[] {
  return values
    .map(value => ({ value, place: random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ value }) => value);
}

function whenHappened(cluster: Cluster, kind: Kind, count: number, act: () => boolean): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let rest = count;
  const happened = () => {
    rest -= 1;
    if (rest > 0 || !act()) return;
    rest = Number.POSITIVE_INFINITY;
    resolve();
  };
  const { of } = kind;
  const listening =
    'ref' in of
      ? cluster.journal.onChange(change => {
          if (change.ref === of.ref) happened();
        })
      : cluster.log.onTransaction(transaction => {
          if (of.transaction(transaction, cluster)) happened();
        });
  return promise.finally(() => listening[Symbol.dispose]());
}
