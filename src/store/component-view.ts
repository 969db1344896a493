/**
 * All registered components, and the state an operator requests of one.
 *
 *     using all = await openComponents(store, paths, onError);          // a web
 *     all.list()                                                        // [{ id: 'executor-3', state: 'paused', … }]
 *     await askComponent(store, paths, 'executor-3', 'running');        // written to its own node: components.ts
 */
import { createListeners } from '../lib/listeners.ts';
import { componentCodec } from '../model/codec/records.ts';
import type { ComponentRecord, ComponentState } from '../model/component.ts';
import { changeComponent, componentId, registrationNumber } from './component-node.ts';
import { COMPONENT_KINDS, type ComponentKind, type StorePaths } from './paths.ts';
import { type Store, StoreError } from './port.ts';
import { createPathRefresher } from './refresher.ts';

/** A component as its own record describes it, with what its place in the store adds. */
export interface RegisteredComponent extends ComponentRecord {
  /** Such as `executor-3`: its kind and the number of its registration, never used again. */
  readonly id: string;
  readonly kind: ComponentKind;
}

/** What the webs show of the components of the installation. */
export interface Components extends Disposable {
  /** By kind in the order of {@link COMPONENT_KINDS}, oldest first. Components whose record cannot be read are omitted. */
  list(): readonly RegisteredComponent[];
  /** Called after each read, also when nothing differs. */
  onChange(listener: () => void): Disposable;
}

/**
 * A watch-fed view of all of them; it trails the store by the time of one read.
 *
 * @param onError called for a record that cannot be read and for a failed read; the view stays usable.
 */
export async function openComponents(
  store: Store,
  paths: StorePaths,
  onError: (error: unknown) => void,
): Promise<Components> {
  const listeners = createListeners();
  let found: readonly RegisteredComponent[] = [];

  async function ofKind(kind: ComponentKind): Promise<readonly RegisteredComponent[]> {
    const base = paths.components(kind);
    const names = ((await store.children(base)) ?? []).toSorted(
      (a, b) => registrationNumber(a) - registrationNumber(b),
    );
    const nodes = await store.getMany(names.map(name => `${base}/${name}`));
    return nodes.flatMap((node, index) => {
      if (node === undefined) return [];
      try {
        return [{ ...componentCodec.decode(node.data), kind, id: componentId(kind, names[index] ?? '') }];
      } catch (error) {
        onError(error);
        return [];
      }
    });
  }

  const copy = createPathRefresher(
    store,
    paths.allComponents,
    async () => {
      const kinds: RegisteredComponent[] = [];
      for (const kind of COMPONENT_KINDS) kinds.push(...(await ofKind(kind)));
      found = kinds;
      listeners.call();
    },
    { onError },
  );
  await copy.touch();

  return {
    list: () => found,
    onChange: listeners.add,
    [Symbol.dispose]: copy[Symbol.dispose],
  };
}

/**
 * Records the state an operator requests of a component. The component follows in its own time and reports it in `state`.
 *
 * @returns `gone` when there is no such component (any more).
 */
export async function askComponent(
  store: Store,
  paths: StorePaths,
  id: string,
  wanted: ComponentState,
): Promise<'asked' | 'gone'> {
  const kind = COMPONENT_KINDS.find(each => id.startsWith(`${each}-`));
  if (kind === undefined) return 'gone';
  const base = paths.components(kind);
  const names = (await store.children(base)) ?? [];
  const name = names.find(each => componentId(kind, each) === id);
  if (name === undefined) return 'gone';
  try {
    await changeComponent(store, `${base}/${name}`, record => ({ ...record, wanted }));
    return 'asked';
  } catch (error) {
    if (error instanceof StoreError && error.code === 'NoNode') return 'gone';
    throw error;
  }
}
