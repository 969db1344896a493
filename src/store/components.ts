/**
 * Who is there: every component writes one ephemeral node, which goes with its session, and watches it for wishes.
 *
 *     const me = await registerComponent(store, paths, 'executor', record, wish => wish === 'paused' && executor.pause());
 *     await me.say({ state: 'paused' });                                           // the others see it: component-view.ts
 *
 *     using executors = await openExecutorLabels(store, paths, onError);      // a scheduler
 *     executors.canRun(['gpu'])      // 'yes'
 *     executors.canRun(['arm'])      // 'no-such-label'
 *
 * A wish is written into the component's own node: it goes with it, and cannot be left behind for somebody else. After a lost
 * session a component registers anew, under the next number.
 */
import { componentCodec } from '../model/codec/records.ts';
import type { ComponentRecord, ComponentState } from '../model/component.ts';
import { changeComponent, componentId } from './component-node.ts';
import { settle, withRetry } from './connection.ts';
import { ensureNode } from './ensure-node.ts';
import type { ComponentKind, StorePaths } from './paths.ts';
import { create, type Store, StoreError } from './port.ts';
import { createRefresher, touchOnContact } from './refresher.ts';

/** What a component says anew of itself. */
type Said = Pick<ComponentRecord, 'state' | 'trouble'>;

export interface Registration extends Disposable {
  /** Such as `executor-3`. */
  readonly id: string;
  /** Durable when it resolves. @throws StoreError `SessionExpired` or `NoNode` when the session that registered is over. */
  say(said: Said): Promise<void>;
}

/**
 * Resolves when others can see it.
 *
 * @param onWish told what an operator asks for, each time it changes.
 */
export async function registerComponent(
  store: Store,
  paths: StorePaths,
  kind: ComponentKind,
  component: ComponentRecord,
  onWish: (wanted: ComponentState) => void = () => {},
): Promise<Registration> {
  await ensureNode(store, paths.components(kind));
  const path = await createOwn(store, paths, kind, component);
  let wanted: ComponentState | undefined;

  async function look(): Promise<void> {
    const node = await settle(store, () => store.get(path));
    const record = node === undefined ? undefined : componentCodec.decode(node.data);
    if (record?.wanted === undefined || record.wanted === wanted) return;
    wanted = record.wanted;
    onWish(wanted);
  }
  // A failed look means a lost session, which ends all this.
  const wishes = createRefresher(look, () => {});
  const watch = store.watch(path, () => void wishes.touch());
  void wishes.touch();

  return {
    id: componentId(kind, path),
    async say({ state, trouble }) {
      await changeComponent(store, path, ({ trouble: before, ...record }) =>
        record.state === state && before === trouble
          ? undefined
          : { ...record, state, ...(trouble === undefined ? {} : { trouble }) },
      );
    },
    [Symbol.dispose]() {
      watch[Symbol.dispose]();
      wishes[Symbol.dispose]();
    },
  };
}

/** @returns the path of our node; after a lost answer the one that was made, not a second one. */
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

export interface ExecutorLabels extends Disposable {
  /**
   * Whether one registered executor offers all of `labels` (none: any executor does).
   *
   * `no-such-label`: executors are there and not one can. `no-executor`: nobody can say, because none is registered, or
   * only such as write records this process cannot read.
   */
  canRun(labels: readonly string[]): 'yes' | 'no-such-label' | 'no-executor';
  /** All labels of all executors, sorted. */
  offered(): readonly string[];
}

/**
 * A watch-fed view of the registered executors; it trails the store by the time of one read.
 *
 * @param onError told of a record that cannot be read, or a failed look; the view stays usable.
 */
export async function openExecutorLabels(
  store: Store,
  paths: StorePaths,
  onError: (error: unknown) => void,
): Promise<ExecutorLabels> {
  const base = paths.components('executor');
  /** Undefined: it is there, and what it offers is not known. */
  let executors: readonly (ReadonlySet<string> | undefined)[] = [];

  function labelsOf(data: Uint8Array): ReadonlySet<string> | undefined {
    try {
      return new Set(componentCodec.decode(data).labels);
    } catch (error) {
      onError(error);
      return undefined;
    }
  }

  const copy = createRefresher(async () => {
    const names = (await store.children(base)) ?? [];
    const nodes = await store.getMany(names.map(name => `${base}/${name}`));
    executors = nodes.filter(node => node !== undefined).map(({ data }) => labelsOf(data));
  }, onError);
  const watch = store.watch(base, () => void copy.touch());
  const contact = touchOnContact(store, copy);
  await copy.touch();

  return {
    canRun(labels) {
      if (executors.some(offered => offered !== undefined && labels.every(label => offered.has(label))))
        return 'yes';
      return executors.length === 0 || executors.includes(undefined) ? 'no-executor' : 'no-such-label';
    },
    offered: () => [...new Set(executors.flatMap(labels => [...(labels ?? [])]))].sort(),
    [Symbol.dispose]() {
      watch[Symbol.dispose]();
      contact[Symbol.dispose]();
      copy[Symbol.dispose]();
    },
  };
}
