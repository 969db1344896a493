/**
 * Semaphores as one pipeline sees them. They are read for each turn in which a job wants one, and watched for as long as a job of the
 * pipeline waits: the commit that frees a slot wakes all pipelines that wait for it.
 */

import { isOpen } from '../../model/build.ts';
import type { PipelineState } from '../../model/pipeline-state.ts';
import type { TenantName } from '../../model/project.ts';
import type { SemaphoreRule } from '../../model/semaphore.ts';
import type { KnownSemaphores, SemaphoreFacts } from '../../pipeline/semaphore-ledger.ts';
import type { StorePaths } from '../../store/paths.ts';
import type { Store } from '../../store/port.ts';
import { holderIn, slotPath, takenSlots } from '../../store/semaphore-slots.ts';

/** Of one pipeline, for its holder. */
export interface PipelineSemaphores {
  /** Watches first, then reads: every later change wakes the pipeline. @param state the stored one, whose builds' slots are its own. */
  read(
    names: ReadonlySet<string>,
    state: PipelineState,
    ruleOf: (name: string) => SemaphoreRule,
  ): Promise<KnownSemaphores>;
  /** Watches no others any more. */
  follow(names: ReadonlySet<string>): void;
}

/** Holders that are read, for people. */
const MOST_READ = 3;

/** @param deps.wake called when the pipeline should take a turn. */
export function pipelineSemaphores(deps: {
  readonly store: Store;
  readonly paths: StorePaths;
  readonly tenant: TenantName;
  wake(): void;
}): PipelineSemaphores {
  const { store, paths, tenant } = deps;
  /** By name; the directory changes when a name becomes one of the whole installation. */
  const watches = new Map<string, { readonly directory: string; readonly watch: Disposable }>();

  function watch(name: string, directory: string): void {
    const known = watches.get(name);
    if (known?.directory === directory) return;
    known?.watch[Symbol.dispose]();
    watches.set(name, { directory, watch: store.watch(directory, () => deps.wake()) });
  }

  async function factsOf(
    name: string,
    rule: SemaphoreRule,
    own: ReadonlySet<string>,
  ): Promise<SemaphoreFacts> {
    const directory = paths.semaphore(tenant, rule.scope, name);
    watch(name, directory);
    const taken = await takenSlots(store, directory);
    const others = [...taken].filter(slot => !own.has(`${directory}/${slot}`));
    const nodes = await store.getMany(others.slice(0, MOST_READ).map(slot => `${directory}/${slot}`));
    const holders = nodes.flatMap(node => {
      const holder = node === undefined ? undefined : holderIn(node.data);
      return holder?.tenant === tenant ? [holder] : [];
    });
    return {
      ...rule,
      takenByOthers: new Set(others),
      holders: holders.map(({ item, job, change }) => ({ item, job, change })),
    };
  }

  return {
    async read(names, state, ruleOf) {
      if (names.size === 0) return new Map();
      const own = ownSlots(state, paths, tenant);
      const facts = [...names].map(async name => [name, await factsOf(name, ruleOf(name), own)] as const);
      return new Map(await Promise.all(facts));
    },
    follow(names) {
      for (const [name, { watch: old }] of watches) {
        if (names.has(name)) continue;
        old[Symbol.dispose]();
        watches.delete(name);
      }
    },
  };
}

/** Semaphores that jobs of the pipeline wait for. */
export function awaitedSemaphores({ items }: PipelineState): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { buildset } of items.values())
    for (const { ended, semaphores } of buildset.semaphoreWaits ?? [])
      if (ended === null) for (const name of semaphores) names.add(name);
  return names;
}

function ownSlots({ items }: PipelineState, paths: StorePaths, tenant: TenantName): ReadonlySet<string> {
  const slots = new Set<string>();
  for (const { buildset } of items.values())
    for (const build of buildset.builds)
      if (isOpen(build)) for (const hold of build.semaphores ?? []) slots.add(slotPath(paths, tenant, hold));
  return slots;
}
