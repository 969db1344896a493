/** The build request of a run: that of the service, for an item that no queue has. */
import { secretsOfJobs } from '../../layout/build/layout-secret.ts';
import { canonicalNameIn } from '../../layout/tenant/resolve-project.ts';
import type { Nanoseconds } from '../../lib/clock.ts';
import { type IdMaker, spanIdOf, traceIdOf } from '../../lib/ids.ts';
import type { BuildRequest } from '../../model/build-request.ts';
import { type BuildSet, newBuildsetOf } from '../../model/build-set.ts';
import { changeKey, type ProposedChange } from '../../model/change.ts';
import type { SecretsByHash } from '../../model/job.ts';
import type { BranchHead } from '../../model/merge.ts';
import { parseCommitId } from '../../model/project.ts';
import type { QueueItem } from '../../model/queue-item.ts';
import { buildRequestFor } from '../../scheduler/turn/build-requests.ts';
import { type Refused, refused } from '../commands/refused.ts';
import type { CheckoutState } from './checkout-state.ts';
import type { ChosenJob, WantedJob } from './choose-job.ts';

/** What is run, of which state of which projects. */
export interface LocalBuild {
  readonly chosen: ChosenJob;
  readonly wanted: WantedJob;
  readonly state: CheckoutState;
  /** `work-tree`, or the change as it was named. */
  readonly id: string;
  /** Tips of the branches of all projects; those of the checkouts are what is run. */
  readonly heads: readonly BranchHead[];
  readonly now: Nanoseconds;
  readonly ids: IdMaker;
}

/** The item as well: it says where commits come from. */
export interface LocalRequest {
  readonly kind: 'request';
  readonly request: BuildRequest;
  readonly item: QueueItem;
}

/** The encrypted secrets that the job's playbooks get. */
export function secretsOf({ job, layout }: ChosenJob): SecretsByHash {
  const used = secretsOfJobs([job]);
  const named = [...layout.secrets.values()].filter(({ sha256 }) => used.has(sha256));
  return Object.fromEntries(named.map(({ sha256, secret }) => [sha256, secret]));
}

/** @param secrets in place of the encrypted ones. */
export function localRequest(build: LocalBuild, secrets: SecretsByHash): LocalRequest | Refused {
  const { chosen, ids, now } = build;
  const { job, layout, pipeline } = chosen;
  const { tenant } = layout;
  const item = localItem(build);
  const outcome = buildRequestFor({ build: ids.uuid(), job: job.name, attempt: 1 }, item, {
    items: new Map([[item.uuid, item]]),
    ...{ pipeline, now, priority: 200, tracing: null },
    graph: { jobs: [job], secrets },
    places: {
      defaultBranch: project => layout.projects.get(project)?.defaultBranch,
      canonicalName: project => canonicalNameIn(project, tenant),
      isTrusted: project => tenant.projects.some(each => each.project === project && each.trusted),
    },
    // One build holds them alone.
    semaphoreOf: () => ({ scope: 'tenant', max: 1 }),
  });
  return outcome.kind === 'request' ? { ...outcome, item } : refused(outcome.text);
}

function localItem({ chosen, wanted, state, id, heads, now, ids }: LocalBuild): QueueItem {
  const { project, branch } = wanted;
  const event = ids.uuid();
  const span = { traceId: traceIdOf(event), spanId: spanIdOf(event) };
  const commit = parseCommitId(state.change);
  const change: ProposedChange = {
    kind: 'change',
    key: changeKey(project, id),
    ...{ project, branch, id, commit },
    patchset: commit,
    ref: 'refs/heads/state',
    subject: state.subject,
  };
  return {
    uuid: ids.uuid(),
    tenant: chosen.layout.tenant.name,
    pipeline: chosen.pipeline.name,
    queue: 'run',
    changes: [change],
    role: 'live',
    origin: {
      ...{ event, eventType: 'run', eventSpan: span, tenantSpan: span },
      receivedAt: now,
      connection: 'run',
    },
    sampled: false,
    enqueuedAt: now,
    position: null,
    phase: { phase: 'queued' },
    behind: null,
    dependsOn: [],
    buildset: localBuildset(ids, now, heads),
    earlier: [],
    timeline: [{ state: 'running', since: now }],
    events: [],
    reports: [],
    startReported: false,
  };
}

/** All that is run counts as landed, so that also playbooks of a config-project are those of the checkout. */
function localBuildset(ids: IdMaker, now: Nanoseconds, heads: readonly BranchHead[]): BuildSet {
  const facts = { uuid: ids.uuid(), number: 1, createdAt: now, cause: null };
  return newBuildsetOf(facts, { state: 'merged', tested: { branches: [], heads } });
}
