/**
 * Freezes the jobs of branches, and describes jobs and projects, for the web, which holds no layout: the tenant's is built from its stored record and files, in a thread of
 * its own, and kept while the record stays the same.
 *
 * One question at a time comes from the web. The files of a few tenants are kept, and the thread ends when nothing has been asked for a while.
 */
import type { Driver } from '../../driver/driver.ts';
import type { LayoutFacts } from '../../layout/layout-facts.ts';
import type { LayoutTable } from '../../layout/layout-table.ts';
import type { Calls } from '../../lib/calls.ts';
import { didYouMean } from '../../lib/nearest-name.ts';
import { CallLost } from '../../lib/worker-calls.ts';
import { layoutSummaryCodec } from '../../model/codec/records.ts';
import { configErrorText } from '../../model/config-error.ts';
import type { LayoutSources } from '../../model/layout.ts';
import type { DescribedThing } from '../../model/layout-description.ts';
import type { ConnectionName, TenantName } from '../../model/project.ts';
import { readConfigs } from '../../scheduler/tenant/config-cache.ts';
import { createLayouts, type Layouts } from '../../scheduler/tenant/layouts.ts';
import type { StorePaths } from '../../store/paths.ts';
import type { Store } from '../../store/port.ts';
import type { BranchQuestion, DescribedLayout, FrozenBranch } from '../../web/deps.ts';

interface FrozenBranchesDeps {
  readonly store: Pick<Store, 'get' | 'getMany'>;
  readonly paths: StorePaths;
  readonly drivers: ReadonlyMap<ConnectionName, Driver>;
  openLayouts(drivers: ReadonlyMap<ConnectionName, Driver>): Calls<LayoutTable>;
  /** Milliseconds without a question after which the thread ends. Default ten minutes. */
  readonly restMs?: number;
}

export interface FrozenBranches extends AsyncDisposable {
  freeze(question: BranchQuestion): Promise<FrozenBranch>;
  describe(tenant: TenantName, thing: DescribedThing): Promise<DescribedLayout>;
}

/** Tenants whose files and layouts are kept. */
const MOST_TENANTS = 4;
/** Errors of the configuration that an answer has. */
const MOST_ERRORS = 5;
/** Reads of a record whose files were replaced meanwhile. */
const MOST_READS = 3;
const REST_MS = 600_000;

/** The tenant's layout cannot be had now. */
type Unanswered = Extract<DescribedLayout, { kind: 'costly' }>;

interface Kept {
  /** The transaction that wrote its record: the version of a node begins again when the tenant is made again. */
  readonly modified: bigint;
  readonly sources: LayoutSources;
  readonly facts: LayoutFacts;
}

/** The thread starts with the first question. */
export function frozenBranches({ restMs = REST_MS, ...deps }: FrozenBranchesDeps): FrozenBranches {
  const kept = new Map<TenantName, Kept>();
  let layouts: Layouts | undefined;
  let timer: NodeJS.Timeout | undefined;

  async function close(): Promise<void> {
    clearTimeout(timer);
    const ending = layouts;
    layouts = undefined;
    kept.clear();
    await ending?.[Symbol.asyncDispose]();
  }

  async function answered<Answer>(
    tenant: TenantName,
    ask: (known: Kept, present: Layouts) => Promise<Answer>,
  ): Promise<Answer | Unanswered> {
    clearTimeout(timer);
    layouts ??= createLayouts(deps.openLayouts(deps.drivers));
    const present = layouts;
    try {
      const layout = await layoutOf(tenant, kept, present, deps);
      return layout.kind === 'layout' ? await ask(layout.kept, present) : layout;
    } catch (error) {
      if (!(error instanceof CallLost) || error.because === 'crash') throw error;
      return { kind: 'costly', text: error.message };
    } finally {
      clearTimeout(timer);
      timer = setTimeout(() => void close(), restMs);
      timer.unref();
    }
  }

  return {
    freeze: question => answered(question.tenant, (known, present) => frozen(question, known, present)),
    describe: (tenant, thing) => answered(tenant, ({ facts }, present) => present.describe(facts, thing)),
    [Symbol.asyncDispose]: close,
  };
}

async function layoutOf(
  tenant: TenantName,
  kept: Map<TenantName, Kept>,
  layouts: Layouts,
  { store, paths }: FrozenBranchesDeps,
): Promise<{ readonly kind: 'layout'; readonly kept: Kept } | Unanswered> {
  for (let reads = 0; reads < MOST_READS; reads++) {
    const node = await store.get(paths.tenant(tenant).layout);
    if (node === undefined || node.data.length === 0) break;
    const known = kept.get(tenant);
    if (known?.modified === node.stat.modifiedTransaction) return { kind: 'layout', kept: known };
    const { builtFrom: sources } = layoutSummaryCodec.decode(node.data);
    if (sources === null) break;
    const branches = await readConfigs(tenant, sources, new Map(), store, paths);
    if (branches === undefined) continue;
    const configs = [...branches.values()].flatMap(each => [...each.values()]);
    const facts = await layouts.build(sources.tenant, configs);
    const made = { modified: node.stat.modifiedTransaction, sources, facts };
    kept.delete(tenant);
    kept.set(tenant, made);
    for (const name of kept.keys()) if (kept.size > MOST_TENANTS) kept.delete(name);
    return { kind: 'layout', kept: made };
  }
  return { kind: 'costly', text: `tenant ${tenant} is being configured; try again later` };
}

async function frozen(
  { tenant, pipeline, project, branch }: BranchQuestion,
  { sources, facts }: Kept,
  layouts: Layouts,
): Promise<FrozenBranch> {
  if (!facts.pipelines.has(pipeline))
    return {
      kind: 'absent',
      text: `tenant ${tenant} has no pipeline ${shown(pipeline)}${didYouMean(pipeline, facts.pipelines.keys())}`,
      place: 'path: pipeline',
    };
  const branches = sources.projects.find(each => each.project === project)?.branches ?? [];
  if (!branches.some(each => each.branch === branch))
    return {
      kind: 'absent',
      text: `the project has no branch ${shown(branch)} whose configuration is read`,
      place: 'path: branch',
    };
  const change = { project, branch, files: null };
  const { outcome } = await layouts.freeze(facts, {
    pipeline,
    changes: [{ name: branch, change }],
    proposed: [],
  });
  switch (outcome.kind) {
    case 'frozen':
      return { kind: 'frozen', jobs: outcome.jobs };
    case 'not-in-pipeline':
      return { kind: 'frozen', jobs: [] };
    case 'misconfigured':
      return { kind: 'unusable', text: outcome.errors.slice(0, MOST_ERRORS).map(configErrorText).join('; ') };
  }
}

function shown(name: string): string {
  return JSON.stringify(name.slice(0, 200));
}
