/**
 * Registration: every component has one ephemeral node, which ends with its session, and watches it for the requested state.
 *
 *     const me = await registerComponent(store, paths, 'executor', record, state => state === 'paused' && executor.pause());
 *     await me.update({ state: 'paused' });                                        // the others see it: component-view.ts
 *
 *     using executors = await openExecutorLabels(store, paths, onError);      // a scheduler
 *     executors.canRun(['gpu'])      // 'yes'
 *     executors.canRun(['arm'])      // 'no-such-label'
 *
 * The requested state is in the component's own node: it ends with the component and cannot reach another one. After a lost
 * session a component registers anew, under the next number.
 */
import { componentCodec } from '../model/codec/records.ts';
import type { ComponentRecord, ComponentState } from '../model/component.ts';
import { type ExecutorZone, reachesZone } from '../model/executor-zone.ts';
import { changeComponent, componentId } from './component-node.ts';
import { settle, withRetry } from './connection.ts';
import { ensureNode } from './ensure-node.ts';
import type { ComponentKind, StorePaths } from './paths.ts';
import { create, type Store, StoreError } from './port.ts';
import { createPathRefresher, createRefresher } from './refresher.ts';

/** What a component may change in its own record. */
type ComponentUpdate = Pick<ComponentRecord, 'state' | 'trouble'>;

/** The component's own side: it ends with the session; disposing of it only stops following the requested state. */
export interface Registration extends Disposable {
  /** Such as `executor-3`. */
  readonly id: string;
  /** Durable when it resolves. @throws StoreError `SessionExpired` or `NoNode` when the session that registered is over. */
  update(update: ComponentUpdate): Promise<void>;
}

/**
 * Resolves when others can see it.
 *
 * @param onRequestedState called each time an operator requests another state.
 */
export async function registerComponent(
  store: Store,
  paths: StorePaths,
  kind: ComponentKind,
  component: ComponentRecord,
  onRequestedState: (wanted: ComponentState) => void = () => {},
): Promise<Registration> {
  await ensureNode(store, paths.components(kind));
  const path = await createOwn(store, paths, kind, component);
  let wanted: ComponentState | undefined;

  async function readRequested(): Promise<void> {
    const node = await settle(store, () => store.get(path));
    const record = node === undefined ? undefined : componentCodec.decode(node.data);
    if (record?.wanted === undefined || record.wanted === wanted) return;
    wanted = record.wanted;
    onRequestedState(wanted);
  }
  // A failed read means a lost session, which ends this registration too.
  const requested = createRefresher(readRequested, () => {});
  const watch = store.watch(path, () => void requested.touch());
  void requested.touch();

  return {
    id: componentId(kind, path),
    async update({ state, trouble }) {
      await changeComponent(store, path, ({ trouble: before, ...record }) =>
        record.state === state && before === trouble
          ? undefined
          : { ...record, state, ...(trouble === undefined ? {} : { trouble }) },
      );
    },
    [Symbol.dispose]() {
      watch[Symbol.dispose]();
      requested[Symbol.dispose]();
    },
  };
}

/** @returns the path of our node; after a lost answer that of the node that was created, never of a second one. */
async function createOwn(
  store: Store,
  paths: StorePaths,
  kind: ComponentKind,
  component: ComponentRecord,
): Promise<string> {
  const data = componentCodec.encode(component);
  const node = create(paths.component(kind, component.host), data, { ephemeral: true, sequential: true });
  let made: string | undefined;
  await withRetry(
    store,
    async () => {
      made = (await store.multi([node]))[0]?.path;
    },
    async () => {
      made = await findOwn(store, paths.components(kind), data);
      return made !== undefined;
    },
  );
  if (made === undefined) throw new StoreError('NoNode', node.path);
  return made;
}

async function findOwn(store: Store, base: string, data: Uint8Array): Promise<string | undefined> {
  const names = (await store.children(base)) ?? [];
  const nodes = await store.getMany(names.map(name => `${base}/${name}`));
  const at = nodes.findIndex(
    node => node?.stat.ephemeralOwner === store.sessionId && Buffer.from(node.data).equals(data),
  );
  return at === -1 ? undefined : `${base}/${names[at]}`;
}

/** What the scheduler knows of executors before it requests a build. */
export interface ExecutorLabels extends Disposable {
  /**
   * Whether one registered executor offers all of `labels` (none: any executor does), and has that version of Ansible.
   *
   * `no-such-label`: executors are registered and none offers them. `no-executor`: unknown, because no executor is
   * registered, or only executors whose records this process cannot read.
   *
   * @param zone of the hosts of the build; null: any. Default: it has no zone.
   */
  canRun(
    labels: readonly string[],
    ansible?: string,
    zone?: string | null,
  ): 'yes' | 'no-such-label' | 'no-executor';
  /** All labels of all executors, sorted. */
  offered(): readonly string[];
  /** Likewise their versions of Ansible. */
  ansibleVersions(): readonly string[];
}

interface Offer extends ExecutorZone {
  readonly labels: ReadonlySet<string>;
  readonly ansible: ReadonlySet<string>;
}

/**
 * A watch-fed view of the registered executors; it trails the store by the time of one read.
 *
 * @param onError called for a record that cannot be read and for a failed read; the view stays usable.
 */
export async function openExecutorLabels(
  store: Store,
  paths: StorePaths,
  onError: (error: unknown) => void,
): Promise<ExecutorLabels> {
  const base = paths.components('executor');
  /** One entry per executor; undefined when its offer is unknown. */
  let executors: readonly (Offer | undefined)[] = [];

  function offerOf(data: Uint8Array): Offer | undefined {
    try {
      const { labels, ansibleVersions, zone, allowUnzoned } = componentCodec.decode(data);
      return {
        ...{ labels: new Set(labels), ansible: new Set(ansibleVersions) },
        ...(zone === undefined ? {} : { zone }),
        ...(allowUnzoned === undefined ? {} : { allowUnzoned }),
      };
    } catch (error) {
      onError(error);
      return undefined;
    }
  }

  const copy = createPathRefresher(
    store,
    base,
    async () => {
      const names = (await store.children(base)) ?? [];
      const nodes = await store.getMany(names.map(name => `${base}/${name}`));
      executors = nodes.filter(node => node !== undefined).map(({ data }) => offerOf(data));
    },
    { onError },
  );
  await copy.touch();

  return {
    canRun(labels, ansible, zone) {
      const can = (offer: Offer) =>
        (zone === null || reachesZone(offer, zone)) &&
        labels.every(label => offer.labels.has(label)) &&
        (ansible === undefined || offer.ansible.has(ansible));
      if (executors.some(offer => offer !== undefined && can(offer))) return 'yes';
      return executors.length === 0 || executors.includes(undefined) ? 'no-executor' : 'no-such-label';
    },
    offered: () => [...new Set(executors.flatMap(offer => [...(offer?.labels ?? [])]))].sort(),
    ansibleVersions: () => [...new Set(executors.flatMap(offer => [...(offer?.ansible ?? [])]))].sort(),
    [Symbol.dispose]: copy[Symbol.dispose],
  };
}
