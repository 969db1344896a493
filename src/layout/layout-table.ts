/**
 * Layouts behind calls with plain arguments and answers, so that they can live in another thread: a layout holds compiled
 * expressions and parsed files, which cannot be sent to another thread, and is far larger than any answer.
 *
 * The newest layouts, parsed files and layouts of proposals are cached. The caller keeps the files and sends them again when
 * the answer is `unknown-layout`.
 */
import { sha256 } from '../lib/ids.ts';
import type { ConfigError } from '../model/config-error.ts';
import type { FreezeOutcome, Tenant } from '../model/layout.ts';
import type { DescribedThing, LayoutDescription } from '../model/layout-description.ts';
import type { BranchConfig } from '../model/merge.ts';
import type { BranchName, JobName, PipelineName, ProjectKey, TenantName } from '../model/project.ts';
import type { PlacedSecret } from '../model/secret.ts';
import { buildLayout, type LayoutInput } from './build/build-layout.ts';
import type { Languages } from './build/build-pipeline.ts';
import { secretsOfJobs } from './build/layout-secret.ts';
import { type SpeculativeLayout, speculativeLayout } from './build/speculative-layout.ts';
import { describeLayout } from './describe-layout.ts';
import { freezeItemGraph, type ItemChange } from './freeze/freeze-item-graph.ts';
import { type LayoutFacts, layoutFacts } from './layout-facts.ts';
import { boundedErrors } from './model/bounded-errors.ts';
import type { FreezeChange } from './model/freeze-request.ts';
import type { Layout } from './model/layout.ts';
import { parseCache } from './stanzas/parse-cache.ts';

/** The calls of a layout thread, which one or several tenants use; both block it while they compute. */
export interface LayoutTable {
  /** Keeps the layout under its id and forgets the tenant's oldest beyond three. */
  build(question: BuildQuestion): LayoutFacts;
  /** Builds the layout with the proposed files first, unless it is cached. */
  freeze(question: FreezeQuestion): FreezeReply;
  /** Of a layout that was built. */
  describe(question: DescribeQuestion): DescribeReply;
}

/** Plain data: it is sent to another thread. */
export interface BuildQuestion {
  /** The layout's id from now on, chosen by the caller; the tenant has no other of this id. */
  readonly id: number;
  readonly tenant: Tenant;
  /** Every branch of every project of the tenant. */
  readonly configs: readonly BranchConfig[];
}

/** Plain data, sent to another thread, which knows the tenant and its files from the {@link BuildQuestion}. */
export interface FreezeQuestion {
  readonly tenant: TenantName;
  /** Id of a layout that was built before. */
  readonly layout: number;
  readonly pipeline: PipelineName;
  /** Those of the item. */
  readonly changes: readonly [ItemChange, ...ItemChange[]];
  /** Configuration proposed by the change and those ahead of it; empty: the tenant's own layout is used. */
  readonly proposed: readonly BranchConfig[];
}

/** Plain data. */
interface DescribeQuestion {
  readonly tenant: TenantName;
  /** Id of a layout that was built before. */
  readonly layout: number;
  readonly thing: DescribedThing;
}

type DescribeReply =
  | { readonly kind: 'unknown-layout' }
  | { readonly kind: 'answered'; readonly answer: LayoutDescription };

type FreezeReply =
  | { readonly kind: 'unknown-layout' }
  | { readonly kind: 'answered'; readonly answer: FreezeAnswer };

/** The job graph with the times for its spans. A graph too large for the store is `misconfigured`. */
export interface FreezeAnswer {
  /** The layout was the tenant's own, or cached. */
  readonly cached: boolean;
  /** Milliseconds of freezing, without the layout; null: the layout has errors, nothing was frozen. */
  readonly freezeMs: number | null;
  /** Jobs that run, in the order of the configuration; of many only the slowest. In milliseconds since the freeze began. */
  readonly jobTimes: readonly JobTime[];
  readonly outcome: FreezeOutcome;
  /** Those of the jobs that run, and those that the proposed configuration adds: all must be decryptable. */
  readonly secrets: readonly PlacedSecret[];
  /** Of every project of the tenant, with the proposed configuration. */
  readonly defaultBranches: ReadonlyMap<ProjectKey, BranchName>;
}

interface JobTime {
  readonly name: JobName;
  readonly from: number;
  readonly to: number;
}

/** Times kept of one job graph: they are stored with the item, and a project may list very many jobs. */
const MOST_JOB_TIMES = 64;
/** Layouts kept of a tenant: turns that began before a new one may still ask for the old. */
const MOST_LAYOUTS = 3;
/** Speculative layouts kept, of all tenants: one per layout and distinct set of proposed files. */
const MOST_SPECULATIVE = 60;
/** Bytes of a job graph: it is one node of the store, and ZooKeeper's limit is 1 MB. */
const MOST_GRAPH_BYTES = 900_000;

interface Known {
  readonly input: LayoutInput;
  readonly layout: Layout;
}

/** @param monotonic milliseconds, for `freezeMs`. */
export function layoutTable(languages: Languages, monotonic: () => number): LayoutTable {
  const cache = parseCache();
  const tenants = new Map<TenantName, Map<number, Known>>();
  const speculative = new Map<string, SpeculativeLayout>();
  return {
    build({ id, tenant, configs }) {
      const input = { tenant, configs, languages, cache };
      const layout = buildLayout(input);
      const layouts = tenants.get(tenant.name) ?? new Map<number, Known>();
      tenants.set(tenant.name, layouts);
      layouts.set(id, { input, layout });
      keepNewest(layouts, MOST_LAYOUTS);
      return layoutFacts(layout);
    },
    describe({ tenant, layout, thing }) {
      const known = tenants.get(tenant)?.get(layout);
      if (known === undefined) return { kind: 'unknown-layout' };
      return { kind: 'answered', answer: describeLayout(known.layout, thing) };
    },
    freeze({ tenant, layout: id, pipeline, changes, proposed }) {
      const known = tenants.get(tenant)?.get(id);
      if (known === undefined) return { kind: 'unknown-layout' };
      const { layout, errors, cached } = layoutWith(known, id, proposed, speculative);
      const defaultBranches = new Map(
        [...layout.projects].map(([project, { defaultBranch }]) => [project, defaultBranch]),
      );
      const [first, ...rest] = boundedErrors(errors.filter(({ severity }) => severity === 'error'));
      if (first !== undefined) {
        const outcome = { kind: 'misconfigured', errors: [first, ...rest] } as const;
        return {
          kind: 'answered',
          answer: { cached, freezeMs: null, jobTimes: [], outcome, secrets: [], defaultBranches },
        };
      }
      const [lead] = changes;
      const begun = monotonic();
      const before = proposed.length === 0 ? {} : { before: known.layout };
      const times: JobTime[] = [];
      const timed = <T>(name: JobName, freeze: () => T): T => {
        const from = monotonic() - begun;
        const frozen = freeze();
        times.push({ name, from, to: monotonic() - begun });
        return frozen;
      };
      const frozen = freezeItemGraph({ layout, pipeline, changes, ...before, timed });
      const secrets = neededSecrets(frozen, layout, known.layout);
      const outcome = bounded(frozen, secrets, lead.change);
      const freezeMs = monotonic() - begun;
      const jobTimes = slowest(times, outcome);
      return { kind: 'answered', answer: { cached, freezeMs, jobTimes, outcome, secrets, defaultBranches } };
    },
  };
}

function slowest(times: readonly JobTime[], outcome: FreezeOutcome): readonly JobTime[] {
  if (outcome.kind !== 'frozen') return [];
  const running = new Set(outcome.jobs.map(job => job.name));
  const all = times.filter(({ name }) => running.has(name));
  const byDuration = all.toSorted((a, b) => b.to - b.from - (a.to - a.from));
  const kept = new Set(byDuration.slice(0, MOST_JOB_TIMES));
  return all.filter(time => kept.has(time));
}

function layoutWith(
  { input, layout }: Known,
  id: number,
  proposed: readonly BranchConfig[],
  speculative: Map<string, SpeculativeLayout>,
): SpeculativeLayout & { readonly cached: boolean } {
  if (proposed.length === 0) return { layout, errors: [], cached: true };
  const key = sha256(
    JSON.stringify([
      input.tenant.name,
      id,
      ...proposed.map(({ project, branch, files: texts }) => [project, branch, texts]),
    ]),
  );
  const found = speculative.get(key);
  const made = found ?? speculativeLayout(input, layout, proposed);
  speculative.delete(key);
  speculative.set(key, made);
  keepNewest(speculative, MOST_SPECULATIVE);
  return { ...made, cached: found !== undefined };
}

function keepNewest<Key>(map: Map<Key, unknown>, most: number): void {
  for (const key of map.keys()) {
    if (map.size <= most) return;
    map.delete(key);
  }
}

/** @param usual the tenant's layout: its own secrets are checked when it is built. */
function neededSecrets(frozen: FreezeOutcome, layout: Layout, usual: Layout): readonly PlacedSecret[] {
  const used = secretsOfJobs(frozen.kind === 'frozen' ? frozen.jobs : []);
  const known = new Set(layout === usual ? [] : [...usual.secrets.values()].map(({ sha256: hash }) => hash));
  return [...layout.secrets.values()].filter(
    ({ sha256: hash }) => used.has(hash) || (layout !== usual && !known.has(hash)),
  );
}

function bounded(
  outcome: FreezeOutcome,
  secrets: readonly PlacedSecret[],
  change: FreezeChange,
): FreezeOutcome {
  if (outcome.kind === 'misconfigured') {
    const [first, ...rest] = boundedErrors(outcome.errors);
    return first === undefined ? outcome : { kind: 'misconfigured', errors: [first, ...rest] };
  }
  if (outcome.kind !== 'frozen') return outcome;
  const bytes = Buffer.byteLength(JSON.stringify([outcome.jobs, secrets]));
  if (bytes <= MOST_GRAPH_BYTES) return outcome;
  const text = `the ${outcome.jobs.length} jobs of this change and their variables and secrets take ${bytes} bytes; at most ${MOST_GRAPH_BYTES} can be stored, so list fewer jobs or shorten their variables`;
  return { kind: 'misconfigured', errors: [wholeConfigError(change, 'job-graph-too-large', text)] };
}

/** An error of all files together. */
export function wholeConfigError(
  { project, branch }: Pick<FreezeChange, 'project' | 'branch'>,
  code: string,
  text: string,
): ConfigError {
  const place = branch === null ? { project } : { project, branch };
  return { severity: 'error', ...place, file: 'configuration', line: 1, column: 1, code, text };
}
