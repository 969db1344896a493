/**
 * The right to act at a code host for changes: the pipeline's fence is ours, and the layout in force holds their
 * projects. One commit proves both, directly before the write at the host; it fails when either has changed.
 *
 *     held      act
 *     removed   the project is not in the tenant any more: land nothing and write nothing there
 *     shadow    the tenant is in shadow mode: the same. All that writes at a host asks here: `performPart`, `landReportsInOrder`, `showAt`
 */
import type { IdMaker } from '../../lib/ids.ts';
import type { Change } from '../../model/change.ts';
import { connected } from '../../store/connection.ts';
import type { Fence } from '../../store/fence.ts';
import { type Operation, type Store, StoreError } from '../../store/port.ts';
import type { TenantLayout } from '../tenant/tenant-layout.ts';
import type { PipelineContext } from '../turn/pipeline-context.ts';

/** What the layout in force says of a change's project. */
export type ProjectStanding = 'held' | 'removed' | 'shadow';

/** Asked directly before each write at a host, so it may wait for a layout that is being adopted. */
export interface LayoutInForce {
  /**
   * @returns whether the layout holds the change's project, and the check that it is still the layout in force.
   * @throws what keeps the newest layout from being adopted.
   */
  standingOf(change: Change): Promise<{ readonly standing: ProjectStanding; readonly check: Operation }>;
  /** After the check failed: there is a newer layout. */
  refresh(): Promise<void>;
}

/** @param context called when the newest layout is adopted. */
export function layoutInForce(
  layout: Pick<TenantLayout, 'upToDate' | 'refresh' | 'settled'>,
  context: () => Pick<PipelineContext, 'queueOf' | 'layoutCheck' | 'tenant'>,
): LayoutInForce {
  return {
    async standingOf(change) {
      await layout.settled(change.project);
      await layout.upToDate();
      const { queueOf, layoutCheck, tenant } = context();
      const held = tenant.shadowMode === true ? 'shadow' : 'held';
      return { standing: queueOf(change) === null ? 'removed' : held, check: layoutCheck };
    },
    refresh: () => layout.refresh(),
  };
}

/** @returns `removed` or `shadow` when it is so of any of the changes. @throws Fenced when the fence is lost; what `standingOf` throws. */
export async function proveRight(
  changes: readonly [Change, ...Change[]],
  { layout, store, ids }: { readonly layout: LayoutInForce; readonly store: Store; readonly ids: IdMaker },
  fence: Fence,
  signal: AbortSignal,
): Promise<ProjectStanding> {
  for (;;) {
    const { standing, check } = await standingOfAll(changes, layout);
    await connected(store, signal);
    try {
      await fence.commit([check], ids.uuid());
      return standing;
    } catch (error) {
      if (!(error instanceof StoreError) || error.code !== 'BadVersion' || error.path !== check.path)
        throw error;
      await layout.refresh();
    }
  }
}

/** Of all of them under one layout. */
async function standingOfAll(
  changes: readonly [Change, ...Change[]],
  layout: LayoutInForce,
): ReturnType<LayoutInForce['standingOf']> {
  const [first, ...others] = changes;
  const held = await layout.standingOf(first);
  for (const change of others) {
    const next = await layout.standingOf(change);
    if (next.standing === 'removed') return next;
    if (JSON.stringify(next.check) !== JSON.stringify(held.check)) return standingOfAll(changes, layout);
  }
  return held;
}
