/**
 * What is in use in the whole store: the job graphs and recipes, changes and slots of semaphores that items name, and the changes that waiting events name. For
 * the sweeper, which must know every pipeline, also those of other schedulers.
 */

import { isOpen } from '../../model/build.ts';
import { graphOf, testedMergeOf } from '../../model/build-set.ts';
import type { ChangeKey } from '../../model/change.ts';
import { isBrokenRecord, isNewerRecord } from '../../model/codec/record.ts';
import { pipelineEventCodec, queueItemCodec, tenantEventCodec } from '../../model/codec/records.ts';
import type { PipelineEvent, TenantEvent } from '../../model/event.ts';
import type { MergedBranch } from '../../model/merge.ts';
import type { PipelineName, TenantName } from '../../model/project.ts';
import { nameOfNode, type StorePaths } from '../../store/paths.ts';
import type { Store } from '../../store/port.ts';
import { slotPath } from '../../store/semaphore-slots.ts';

interface PipelinePlace {
  readonly tenant: TenantName;
  readonly pipeline: PipelineName;
  /** How many items it holds. */
  readonly items: number;
}

/** As of some time during the read; removing what is not in it needs a check of its own. */
export interface Holdings {
  readonly tenants: readonly TenantName[];
  readonly pipelines: readonly PipelinePlace[];
  readonly blobs: ReadonlySet<string>;
  readonly changes: ReadonlySet<ChangeKey>;
  /** Slots of semaphores that open builds name, by path. */
  readonly slots: ReadonlySet<string>;
  /** Records whose references are unknown. While there are any, nothing counts as unused. */
  readonly unreadable: readonly string[];
}

const READ_AT_ONCE = 200;

/** Reads every item and waiting event of the installation. Broken and newer records are listed, not quarantined. */
export async function readHoldings(store: Store, paths: StorePaths): Promise<Holdings> {
  const pipelines: PipelinePlace[] = [];
  const blobs = new Set<string>();
  const changes = new Set<ChangeKey>();
  const slots = new Set<string>();
  const unreadable: string[] = [];

  async function each<T>(
    base: string,
    codec: { decode(bytes: Uint8Array): T },
    take: (value: T) => void,
  ): Promise<number> {
    const names = (await store.children(base)) ?? [];
    for (let at = 0; at < names.length; at += READ_AT_ONCE) {
      const chunk = names.slice(at, at + READ_AT_ONCE).map(name => `${base}/${name}`);
      const nodes = await store.getMany(chunk);
      for (const [index, path] of chunk.entries()) {
        const node = nodes[index];
        if (node === undefined) continue; // removed meanwhile; its result was written before
        const value = decoded(codec, node.data);
        if (value === 'unreadable') unreadable.push(path);
        else take(value.value);
      }
    }
    return names.length;
  }

  const tenants = ((await store.children(paths.tenants)) ?? []).map(nameOfNode);
  for (const tenant of tenants) {
    // In the direction in which events move, so that one that moves meanwhile is found at its next place.
    await each(paths.tenant(tenant).triggerQueue, tenantEventCodec, event =>
      addAll(changes, changesOfTenantEvent(event)),
    );
    for (const name of (await store.children(paths.tenant(tenant).pipelines)) ?? []) {
      const pipeline = nameOfNode(name);
      const places = paths.pipeline(tenant, pipeline);
      await each(places.eventQueue, pipelineEventCodec, event => {
        addAll(changes, changesOfPipelineEvent(event));
        addAll(blobs, recipesOfEvent(event));
      });
      const items = await each(places.items, queueItemCodec, item => {
        addAll(changes, [...item.changes.map(change => change.key), ...item.dependsOn]);
        for (const { blob } of [graphOf(item.buildset)].flatMap(graph => graph ?? [])) blobs.add(blob);
        addAll(blobs, recipesOf(testedMergeOf(item.buildset)?.branches ?? []));
        for (const { semaphores = [] } of item.buildset.builds.filter(isOpen))
          addAll(
            slots,
            semaphores.map(hold => slotPath(paths, tenant, hold)),
          );
      });
      // Items of an unfinished staged commit are in none of these places.
      const staged = (await store.children(places.staged)) ?? [];
      if (staged.length > 0) unreadable.push(places.staged);
      pipelines.push({ tenant, pipeline, items });
    }
  }
  return { tenants, pipelines, blobs, changes, slots, unreadable };
}

function decoded<T>(
  codec: { decode(bytes: Uint8Array): T },
  bytes: Uint8Array,
): { readonly value: T } | 'unreadable' {
  try {
    return { value: codec.decode(bytes) };
  } catch (error) {
    if (isNewerRecord(error) || isBrokenRecord(error)) return 'unreadable';
    throw error;
  }
}

function changesOfTenantEvent(event: TenantEvent): readonly ChangeKey[] {
  if (event.kind === 'trigger') return [event.trigger.change.key];
  return 'change' in event ? [event.change] : [];
}

function changesOfPipelineEvent(event: PipelineEvent): readonly ChangeKey[] {
  if (event.kind === 'enqueue') return [event.trigger.change.key];
  return 'change' in event ? [event.change] : [];
}

/** The answer of a merger waits for its item. */
function recipesOfEvent(event: PipelineEvent): readonly string[] {
  if (event.kind !== 'merger-result' || event.outcome.kind !== 'merged') return [];
  return recipesOf(event.outcome.branches);
}

function recipesOf(branches: readonly MergedBranch[]): readonly string[] {
  return branches.flatMap(({ recipe }) => recipe ?? []);
}

function addAll<T>(set: Set<T>, values: Iterable<T>): void {
  for (const value of values) set.add(value);
}
