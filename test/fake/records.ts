/** Records with every field that a reader asks for, and nothing in them. */
import { parseNanoseconds } from '../../src/lib/clock.ts';
import type { Uuid } from '../../src/lib/ids.ts';
import type { BuildRequest } from '../../src/model/build-request.ts';
import type { FrozenJob } from '../../src/model/job.ts';
import type { LayoutSummary } from '../../src/model/layout.ts';
import type { ReportDetails } from '../../src/model/report.ts';

function frozenJob(parts: Partial<FrozenJob> = {}): FrozenJob {
  return {
    name: 'unit',
    preRun: [],
    run: [],
    postRun: [],
    attempts: 3,
    voting: true,
    dependencies: [],
    requiredProjects: [],
    vars: {},
    nodes: [],
    holdFollowingChanges: false,
    failFast: false,
    network: false,
    tags: [],
    definedAt: [],
    ...parts,
  };
}

export function emptyBuildRequest(
  parts: Partial<BuildRequest> & { readonly uuid: Uuid; readonly item: Uuid; readonly buildset: Uuid },
): BuildRequest {
  return {
    tenant: 'acme',
    pipeline: 'gate',
    job: frozenJob(),
    jobName: 'unit',
    attempt: 1,
    requestedAt: parseNanoseconds('1795200000000000000'),
    priority: 200,
    projects: [],
    playbooks: { preRun: [], run: [], postRun: [] },
    zuul: {},
    trace: null,
    ...parts,
  };
}

export function emptyLayout(parts: Partial<LayoutSummary> = {}): LayoutSummary {
  return {
    tenant: 'acme',
    version: 1,
    reconfiguredAt: parseNanoseconds('1'),
    projects: [],
    pipelines: [],
    retired: [],
    jobs: [],
    errors: [],
    errorCount: 0,
    builtFrom: null,
    ...parts,
  };
}

export const NO_DETAILS: ReportDetails = {
  changes: [],
  headline: '',
  reason: null,
  jobs: [],
  fileComments: [],
  retests: [],
  queue: null,
  traceUrl: null,
};
