/**
 * Who is there: every component writes one ephemeral node, which goes with its session.
 *
 *     await registerComponent(store, paths, 'executor', { host: 'ci1', version: '0.1.0', labels: ['linux', 'gpu'] });
 *
 *     using executors = await openExecutorLabels(store, paths, onError);      // a scheduler
 *     executors.canRun(['gpu'])      // 'yes'
 *     executors.canRun(['arm'])      // 'no-such-label'
 *
 * A component whose session ended is not registered again by itself: its process starts anew.
 */
import { componentCodec } from '../model/codec/records.ts';
import type { ComponentRecord } from '../model/component.ts';
import { isConnectionLoss, settle } from './connection.ts';
import { ensureNode } from './ensure-node.ts';
import type { ComponentKind, StorePaths } from './paths.ts';
import { create, type Store } from './port.ts';
import { createRefresher } from './refresher.ts';

/** Resolves when others can see it. Registering twice (after a lost answer) is harmless: both nodes say the same. */
export async function registerComponent(
  store: Store,
  paths: StorePaths,
  kind: ComponentKind,
  component: ComponentRecord,
): Promise<void> {
  await ensureNode(store, paths.components(kind));
  const node = create(paths.component(kind, component.host), componentCodec.encode(component), {
    ephemeral: true,
    sequential: true,
  });
  try {
    await store.multi([node]);
  } catch (error) {
    if (!isConnectionLoss(error)) throw error;
    await settle(store, () => store.multi([node]));
  }
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
      copy[Symbol.dispose]();
    },
  };
}
