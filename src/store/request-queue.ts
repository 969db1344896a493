/**
 * Requests for workers (merges, builds), from the requester's side.
 *
 *     <path>/queue/<priority>-<uuid>-<seq>   the request's state, persistent until done
 *     <path>/bodies/<uuid>                   what is asked for, written once; it goes with the request
 *     <path>/claimed/<uuid>                  ephemeral: its worker is alive
 *     <path>/cancelled/<uuid>                a taken request is to stop
 *     <path>/resumed/<uuid>                  a taken request that paused is to go on
 *
 * A request is taken when its record says so *and* its claim exists; taken without a claim means its worker vanished.
 * A change to it is an `Operation` that rides in the requester's own multi and fails when a worker was first:
 *
 *     await fence.commit([...requests.submit(build), set(item, waiting)], id);
 *     await fence.commit([...(await requests.withdraw(uuid)), set(item, gone)], id);     // NoNode, BadVersion: look again
 *
 * The worker's side is request-worker.ts; abandoned-requests.ts handles requests whose worker is gone.
 */
import { isNewerRecord, RecordError } from '../model/codec/record.ts';
import type { WantedNodes } from '../model/static-host.ts';
import { settle, withRetry } from './connection.ts';
import { ensureNode } from './ensure-node.ts';
import type { BytesCodec } from './event-queue.ts';
import { create, type Operation, remove, type Store, type StoredNode } from './port.ts';
import {
  decodeRequestRecord,
  encodeRequestRecord,
  inServiceOrder,
  parseRequestName,
  type RequestRecord,
  type RequestState,
  requestNamePrefix,
  withPriority,
} from './request-record.ts';
import { isReadable, type StoredRequest, type UnreadableRequest } from './stored-request.ts';

/** The common part of all requests. */
export interface Requestable {
  readonly uuid: string;
  /** 0–999, lower is sooner: 100 high, 200 normal, 300 low, each plus the rank of relative-priority.ts. */
  readonly priority: number;
}

/** One object per queue and process; `path` comes from `StorePaths.requests`. */
export interface RequestQueueDeps<T extends Requestable> {
  readonly store: Store;
  /** Never deleted, like every queue's path. */
  readonly path: string;
  readonly codec: BytesCodec<T>;
}

const READ_AT_ONCE = 100;

/** The requester's operations write nothing by themselves, except for `submitNow`. */
export class RequestQueue<T extends Requestable> {
  readonly #deps: RequestQueueDeps<T>;

  constructor(deps: RequestQueueDeps<T>) {
    this.#deps = deps;
  }

  get store(): Store {
    return this.#deps.store;
  }

  /** Parent of the requests: what a worker watches. */
  get queuePath(): string {
    return `${this.#deps.path}/queue`;
  }

  /** Parent of the claims: a claim that vanishes here means that its worker is gone. */
  get claimedPath(): string {
    return `${this.#deps.path}/claimed`;
  }

  /** Exists as long as the worker that took the request is alive. */
  claimPath(uuid: string): string {
    return `${this.claimedPath}/${uuid}`;
  }

  /** Parent of what requests ask for. */
  get bodiesPath(): string {
    return `${this.#deps.path}/bodies`;
  }

  /** What the request asks for, as long as it exists. */
  bodyPath(uuid: string): string {
    return `${this.bodiesPath}/${uuid}`;
  }

  /** Parent of the cancel marks. */
  get cancelledPath(): string {
    return `${this.#deps.path}/cancelled`;
  }

  /** Exists once the worker is to stop; its data is the message for it. */
  cancelPath(uuid: string): string {
    return `${this.cancelledPath}/${uuid}`;
  }

  /** Parent of the marks of requests that are to go on. */
  get resumedPath(): string {
    return `${this.#deps.path}/resumed`;
  }

  /** Exists once a worker that paused is to go on. */
  resumePath(uuid: string): string {
    return `${this.resumedPath}/${uuid}`;
  }

  /** Creates the parents; call once, before anything else. */
  async prepare(signal?: AbortSignal): Promise<void> {
    for (const name of ['queue', 'bodies', 'claimed', 'cancelled', 'resumed']) {
      await ensureNode(this.store, `${this.#deps.path}/${name}`, signal);
    }
  }

  /**
   * A new request, behind those of the same priority.
   *
   * @param wanted no worker may take it before it has got hosts for these (src/scheduler/care/grant-hosts.ts).
   * @throws RangeError for a priority outside 0–999.
   */
  submit(request: T, wanted?: WantedNodes): readonly Operation[] {
    const tries = { attempt: 1, ...(wanted === undefined ? {} : { wanted }) };
    return this.#append(request, this.#deps.codec.encode(request), tries);
  }

  /** Queues a request again for another worker, behind those that wait, in the multi in which its worker completes it. */
  resubmit({ value, losses, bytes }: StoredRequest<T>, attempt: number): readonly Operation[] {
    return this.#append(value, bytes, { attempt, ...(losses === undefined ? {} : { losses }) });
  }

  /** The body first: in a commit so large that it is carried out in parts, no worker meets a request without it. */
  #append(
    { priority, uuid }: T,
    bytes: Uint8Array,
    tries: Pick<RequestRecord, 'attempt' | 'losses' | 'wanted'>,
  ): readonly Operation[] {
    const record = encodeRequestRecord({ state: { kind: 'requested' }, ...tries });
    const prefix = requestNamePrefix(priority, uuid, tries.wanted === undefined ? {} : { hosts: 'waiting' });
    return [
      create(this.bodyPath(uuid), bytes),
      create(`${this.queuePath}/${prefix}`, record, { sequential: true }),
    ];
  }

  /**
   * Submits in a multi of its own; after a lost reply the request's name shows whether it is stored. Returns when durable.
   */
  async submitNow(request: T): Promise<void> {
    await withRetry(
      this.store,
      () => this.store.multi(this.submit(request)),
      async () => (await this.pathsOf([request.uuid])).size > 0,
    );
  }

  /**
   * Changes the priority of waiting requests. They keep their age, and their own bytes keep the original priority.
   *
   * @returns the operations that move requests to another place; they fail with `NoNode` or `BadVersion` when a worker was first.
   */
  async reprioritize(wanted: ReadonlyMap<string, number>): Promise<readonly (readonly Operation[])[]> {
    const names = ((await this.store.children(this.queuePath)) ?? []).flatMap(name => {
      const priority = wanted.get(parseRequestName(name)?.uuid ?? '');
      const next = priority === undefined ? name : withPriority(name, priority);
      return next === name ? [] : [{ path: `${this.queuePath}/${name}`, next: `${this.queuePath}/${next}` }];
    });
    const nodes = await this.store.getMany(names.map(({ path }) => path));
    return names.flatMap(({ path, next }, index) => {
      const node = nodes[index];
      if (node === undefined || stateOf(node) === 'taken') return [];
      return [[remove(path, node.stat.version), create(next, node.data)]];
    });
  }

  /** Whether it exists, taken or not. What it asks for says so without a list of all; one of an earlier release has that in its node. */
  async has(uuid: string): Promise<boolean> {
    if ((await this.store.get(this.bodyPath(uuid))) !== undefined) return true;
    return (await this.pathsOf([uuid])).size > 0;
  }

  /** See {@link withdrawAll}. */
  async withdraw(uuid: string): Promise<readonly Operation[]> {
    return await this.withdrawAll([uuid]);
  }

  /**
   * Ends these requests: a waiting one is removed, a taken one is cancelled, one that is gone needs nothing.
   *
   * The multi fails with `NoNode`, `BadVersion` or `NodeExists` when a worker took or completed one meanwhile: call again.
   *
   * @param message for the worker, with the cancel; see {@link Claim.cancelMessage}.
   */
  async withdrawAll(
    uuids: readonly string[],
    message: (uuid: string) => Uint8Array = () => new Uint8Array(0),
  ): Promise<readonly Operation[]> {
    const paths = await this.pathsOf(uuids);
    const wanted = [...paths.keys()];
    const nodes = await this.store.getMany([...paths.values()]);
    const marks = await this.store.getMany(wanted.map(uuid => this.cancelPath(uuid)));
    const bodies = new Set(wanted.length === 0 ? [] : await this.store.children(this.bodiesPath));
    return wanted.flatMap((uuid, index) => {
      const node = nodes[index];
      const path = paths.get(uuid);
      if (node === undefined || path === undefined) return [];
      const taken = stateOf(node) === 'taken';
      if (!taken)
        return [remove(path, node.stat.version), ...(bodies.has(uuid) ? [remove(this.bodyPath(uuid))] : [])];
      return marks[index] === undefined ? [create(this.cancelPath(uuid), message(uuid))] : [];
    });
  }

  /** Lets those of these requests go on that exist. The multi fails with `NodeExists` when it was done before: call again. */
  async resumeAll(uuids: readonly string[]): Promise<readonly Operation[]> {
    const wanted = [...(await this.pathsOf(uuids)).keys()];
    const marks = await this.store.getMany(wanted.map(uuid => this.resumePath(uuid)));
    return wanted.flatMap((uuid, index) =>
      marks[index] === undefined ? [create(this.resumePath(uuid))] : [],
    );
  }

  /** The message sent with a request's cancel, until its worker has read it and completed. */
  async cancelMessage(uuid: string): Promise<Uint8Array | undefined> {
    return (await this.store.get(this.cancelPath(uuid)))?.data;
  }

  /** Asks the worker that has it to stop, without reading the store first; `NodeExists`: already cancelled. */
  cancel(uuid: string, reason: Uint8Array = new Uint8Array(0)): Operation {
    return create(this.cancelPath(uuid), reason);
  }

  /** All readable requests in order of service. */
  async list(): Promise<readonly StoredRequest<T>[]> {
    return (await this.everything()).filter(isReadable);
  }

  /** @returns names in order of service, but for those that wait for hosts, and the claimed uuids: enough for a worker to find its next request. */
  async overview(): Promise<{ readonly names: readonly string[]; readonly claimed: ReadonlySet<string> }> {
    const all = (await this.store.children(this.queuePath)) ?? [];
    const names = inServiceOrder(all.filter(name => parseRequestName(name)?.hosts !== 'waiting'));
    return { names, claimed: new Set(await this.store.children(`${this.#deps.path}/claimed`)) };
  }

  /** Reads all in one call and decodes each on demand: a worker usually takes the first. */
  async read(names: readonly string[]): Promise<Iterable<StoredRequest<T> | UnreadableRequest>> {
    const wanted = names.flatMap(name => {
      const uuid = parseRequestName(name)?.uuid;
      return uuid === undefined ? [] : [{ path: `${this.queuePath}/${name}`, uuid }];
    });
    const nodes = await this.store.getMany([
      ...wanted.map(({ path }) => path),
      ...wanted.map(({ uuid }) => this.bodyPath(uuid)),
    ]);
    return Iterator.from(wanted.entries()).flatMap(([index, { path, uuid }]) => {
      const node = nodes[index];
      return node === undefined ? [] : [this.#decode(path, uuid, node, nodes[wanted.length + index])];
    });
  }

  /** All requests in order of service, including those this process cannot read. */
  async everything(): Promise<readonly (StoredRequest<T> | UnreadableRequest)[]> {
    const names = inServiceOrder((await settle(this.store, () => this.store.children(this.queuePath))) ?? []);
    const requests: (StoredRequest<T> | UnreadableRequest)[] = [];
    for (let at = 0; at < names.length; at += READ_AT_ONCE) {
      requests.push(...(await this.read(names.slice(at, at + READ_AT_ONCE))));
    }
    return requests;
  }

  /** Those of these requests that exist, including those this process cannot read. */
  async only(uuids: ReadonlySet<string>): Promise<readonly (StoredRequest<T> | UnreadableRequest)[]> {
    const all = inServiceOrder((await settle(this.store, () => this.store.children(this.queuePath))) ?? []);
    const names = all.filter(name => uuids.has(parseRequestName(name)?.uuid ?? ''));
    return names.length === 0 ? [] : [...(await this.read(names))];
  }

  #decode(
    path: string,
    uuid: string,
    node: StoredNode,
    body: StoredNode | undefined,
  ): StoredRequest<T> | UnreadableRequest {
    const { version } = node.stat;
    const place = body === undefined ? {} : { body: this.bodyPath(uuid) };
    try {
      const record = decodeRequestRecord(node.data);
      const { bytes = body?.data } = record;
      if (bytes === undefined)
        throw new RecordError('broken', `request ${uuid} cannot be read: what it asks for is not there`);
      const apart = record.bytes === undefined ? place : {};
      return { path, uuid, version, ...record, ...apart, bytes, value: this.#deps.codec.decode(bytes) };
    } catch (error) {
      return { path, uuid, version, ...place, error };
    }
  }

  /** The paths of the requests that exist, by uuid. */
  async pathsOf(uuids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const wanted = new Set(uuids);
    const names = (await this.store.children(this.queuePath)) ?? [];
    const paths = new Map<string, string>();
    for (const name of names) {
      const uuid = parseRequestName(name)?.uuid;
      if (uuid !== undefined && wanted.has(uuid)) paths.set(uuid, `${this.queuePath}/${name}`);
    }
    return paths;
  }
}

/**
 * For a broken record: `requested`, so that withdrawing removes it. For a newer one: `taken`, so that withdrawing sends a
 * cancel to the worker that can read it.
 */
function stateOf(node: StoredNode): RequestState['kind'] {
  try {
    return decodeRequestRecord(node.data).state.kind;
  } catch (error) {
    return isNewerRecord(error) ? 'taken' : 'requested';
  }
}
