/** Requests for builds that wait for hosts or have them, by their names alone: what builds ask for besides is not read. */
import { isUuid, type Uuid } from '../lib/ids.ts';
import type { NodeGrant, WantedNodes } from '../model/static-host.ts';
import { settle } from './connection.ts';
import { create, type Operation, remove, type StoredNode } from './port.ts';
import type { Requestable, RequestQueue } from './request-queue.ts';
import {
  decodeRequestRecord,
  encodeRequestRecord,
  inServiceOrder,
  keptOf,
  parseRequestName,
  type RequestName,
  type RequestRecord,
  withHosts,
} from './request-record.ts';

/** A build that waits for hosts. */
export interface WaitingRequest {
  readonly uuid: Uuid;
  readonly wanted: WantedNodes;
  /** Gives it hosts, at its place in the order; fails with `NoNode` when it is gone or was moved. */
  grant(grant: NodeGrant): readonly Operation[];
}

/** A build that has hosts, whether an executor has taken it or not. */
interface GrantedRequest {
  readonly uuid: Uuid;
  readonly wanted: WantedNodes;
  readonly grant: NodeGrant;
}

/** Both in the order of service. Requests that this process cannot read are left out. */
export interface HostRequests {
  readonly waiting: readonly WaitingRequest[];
  readonly granted: readonly GrantedRequest[];
}

const READ_AT_ONCE = 100;

/** Reads again and again; what waits never changes, so it is read once. */
export function hostRequests<T extends Requestable>(
  queue: Pick<RequestQueue<T>, 'store' | 'queuePath'>,
): { read(): Promise<HostRequests> } {
  const { store, queuePath } = queue;
  let known: ReadonlyMap<string, RequestRecord> = new Map();

  async function recordsOf(names: readonly string[]): Promise<ReadonlyMap<string, RequestRecord>> {
    const records = new Map<string, RequestRecord>();
    for (let at = 0; at < names.length; at += READ_AT_ONCE) {
      const some = names.slice(at, at + READ_AT_ONCE);
      const nodes = await settle(store, () => store.getMany(some.map(name => `${queuePath}/${name}`)));
      for (const [index, name] of some.entries()) {
        const record = readable(nodes[index]);
        if (record !== undefined) records.set(name, record);
      }
    }
    return records;
  }

  function waitingRequest(name: string, record: RequestRecord | undefined): readonly WaitingRequest[] {
    const { uuid } = parseRequestName(name) ?? {};
    if (record?.wanted === undefined || uuid === undefined || !isUuid(uuid)) return [];
    const grant = (granted: NodeGrant) => [
      remove(`${queuePath}/${name}`),
      create(
        `${queuePath}/${withHosts(name, { hosts: 'granted', ...(granted.zone === undefined ? {} : { zone: granted.zone }) })}`,
        encodeRequestRecord({ state: { kind: 'requested' }, ...keptOf(record), granted }),
      ),
    ];
    return [{ uuid, wanted: record.wanted, grant }];
  }

  return {
    async read() {
      const all = inServiceOrder((await settle(store, () => store.children(queuePath))) ?? []);
      const named = (hosts: RequestName['hosts']) =>
        all.filter(name => parseRequestName(name)?.hosts === hosts);
      const waiting = named('waiting');
      const unread = await recordsOf(waiting.filter(name => !known.has(name)));
      known = new Map(waiting.flatMap(name => pair(name, known.get(name) ?? unread.get(name))));
      const records = await recordsOf(named('granted'));
      const granted = [...records].flatMap(([name, { wanted, granted: grant }]) => {
        const { uuid } = parseRequestName(name) ?? {};
        return uuid === undefined || !isUuid(uuid) || wanted === undefined || grant === undefined
          ? []
          : [{ uuid, wanted, grant }];
      });
      return { waiting: waiting.flatMap(name => waitingRequest(name, known.get(name))), granted };
    },
  };
}

function pair(name: string, record: RequestRecord | undefined) {
  return record === undefined ? [] : [[name, record] as const];
}

/** Undefined: it is gone, or not to be read. */
function readable(node: StoredNode | undefined): RequestRecord | undefined {
  try {
    return node === undefined ? undefined : decodeRequestRecord(node.data);
  } catch {
    // Broken ones are settled by the sweeper, newer ones by an upgraded scheduler.
    return undefined;
  }
}
