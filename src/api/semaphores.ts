/** `GET …/semaphores`, as Zuul has it: who holds what. The holders are the open builds of the items, and playbooks of some of them. */
import { type Nanoseconds, toMilliseconds } from '../lib/clock.ts';
import { changesText } from '../model/about-item.ts';
import { type Build, isOpen } from '../model/build.ts';
import type { TenantName } from '../model/project.ts';
import type { SemaphoreHold, SemaphoreHolder, SemaphoreRule } from '../model/semaphore.ts';
import { type Document, document, flag, list, milliseconds, nullable, text, uuid, whole } from './schema.ts';
import type { TenantSnapshot } from './tenant-snapshot.ts';

/** By name; those that a build holds or a job waits for, although nothing defines them, among them. */
export const semaphoresSchema = list(
  document({
    name: text(),
    global: flag('Its holders are builds of all tenants that may use it'),
    max: whole(),
    holders: document({
      count: whole(),
      this_tenant: list(document({ buildset_uuid: uuid(), job_name: text() })),
      other_tenants: whole('How many holders belong to other tenants, which are not named'),
    }),
    gatehouse: document({
      defined: flag('False: the name is used, but not defined; one build may hold it'),
      holders: list(
        document({
          ...{ item: uuid(), build: uuid(), pipeline: text(), change: text(), job: text() },
          playbook: nullable(text('Path of the one playbook that holds it; null: the build does')),
          since: milliseconds(),
        }),
      ),
      waiting: list(
        document({ item: uuid(), pipeline: text(), change: text(), job: text(), since: milliseconds() }),
      ),
    }),
  }),
);
/** Encoded by {@link semaphoresDocument}. */
export type SemaphoresDocument = Document<typeof semaphoresSchema>;

type Snapshot = Pick<TenantSnapshot, 'semaphores' | 'pipelines'>;

/** What playbooks hold, as the store has it. */
interface OfPlaybooks {
  readonly tenant: TenantName;
  /** Of any tenant, as far as it is global. */
  readonly held: readonly (Omit<SemaphoreHolder, 'playbook'> &
    Pick<SemaphoreHold, 'name' | 'scope'> & { readonly playbook: string })[];
}

/** @param others the other tenants of the installation, whose builds are counted and not named. */
export function semaphoresDocument(
  snapshot: Snapshot,
  others: readonly Snapshot[],
  playbooks: OfPlaybooks,
): SemaphoresDocument {
  const ofPlaybooks = Map.groupBy(playbooks.held.map(heldByPlaybook), ({ tenant }) =>
    tenant === playbooks.tenant ? 'own' : 'foreign',
  );
  const held = [...holdsOf(snapshot), ...(ofPlaybooks.get('own') ?? [])];
  const waiting = waitsOf(snapshot);
  const foreign = [...others.flatMap(other => holdsOf(other)), ...(ofPlaybooks.get('foreign') ?? [])].filter(
    ({ hold }) => hold.scope === 'global',
  );
  const defined = new Map(snapshot.semaphores.map(({ name, ...rule }) => [name, rule]));
  const names = new Set([
    ...defined.keys(),
    ...held.map(({ hold }) => hold.name),
    ...waiting.flatMap(({ names: missing }) => missing),
  ]);
  return [...names].toSorted().map(name => {
    const rule: SemaphoreRule = defined.get(name) ?? { scope: 'tenant', max: 1 };
    const own = held.filter(({ hold }) => hold.name === name);
    const other_tenants =
      rule.scope === 'tenant' ? 0 : foreign.filter(({ hold }) => hold.name === name).length;
    return {
      name,
      global: rule.scope === 'global',
      max: rule.max,
      holders: {
        count: own.length + other_tenants,
        this_tenant: own.map(({ buildset, job }) => ({ buildset_uuid: buildset, job_name: job })),
        other_tenants,
      },
      gatehouse: {
        defined: defined.has(name),
        holders: own.map(({ item, pipeline, change, build, job, playbook, since }) => ({
          ...{ item, build, pipeline, change, job, playbook, since: toMilliseconds(since) },
        })),
        waiting: waiting.flatMap(({ names: missing, ...place }) => (missing.includes(name) ? [place] : [])),
      },
    };
  });
}

interface Held {
  readonly item: Build['uuid'];
  readonly buildset: Build['uuid'];
  readonly pipeline: string;
  readonly change: string;
  readonly build: Build['uuid'];
  readonly job: string;
  /** Null: the whole build holds it. */
  readonly playbook: string | null;
  readonly since: Nanoseconds;
  readonly hold: Pick<SemaphoreHold, 'name' | 'scope'>;
}

function heldByPlaybook({
  name,
  scope,
  ...holder
}: OfPlaybooks['held'][number]): Held & Pick<SemaphoreHolder, 'tenant'> {
  return { ...holder, hold: { name, scope } };
}

function holdsOf({ pipelines }: Snapshot): readonly Held[] {
  return pipelines.flatMap(({ state }) =>
    [...state.items.values()].flatMap(item =>
      item.buildset.builds.filter(isOpen).flatMap(build =>
        (build.semaphores ?? []).map(hold => ({
          ...{ item: item.uuid, buildset: item.buildset.uuid, pipeline: item.pipeline },
          ...{ change: changesText(item), build: build.uuid, job: build.job, playbook: null, hold },
          // The slot was taken in the commit that requested the build.
          since: build.requestedAt,
        })),
      ),
    ),
  );
}

function waitsOf({ pipelines }: Pick<TenantSnapshot, 'pipelines'>) {
  return pipelines.flatMap(({ state }) =>
    [...state.items.values()].flatMap(item =>
      (item.buildset.semaphoreWaits ?? []).flatMap(({ ended, job, semaphores, since }) =>
        ended === null
          ? [
              {
                ...{ names: semaphores, item: item.uuid, pipeline: item.pipeline, job },
                ...{ change: changesText(item), since: toMilliseconds(since) },
              },
            ]
          : [],
      ),
    ),
  );
}

/** Jobs of the tenant that could start but for a semaphore. */
export function countSemaphoreWaits(snapshot: Pick<TenantSnapshot, 'pipelines'>): number {
  return waitsOf(snapshot).length;
}
