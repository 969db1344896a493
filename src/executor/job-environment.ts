/**
 * The environment of a playbook's process: cleared, with these variables, and all facts in one JSON file.
 *
 *     ZUUL_CHANGE=12,3  ZUUL_PHASE=run  ZUUL_SRC_DIR=/build/src  ...
 *     GATEHOUSE_VARIABLES=/gatehouse/variables.json              {"zuul": {...}, "vars": {...}, "nodes": {...}}
 */
import type { BuildPlaybook, BuildRequest } from '../model/build-request.ts';
import type { Json, Variables } from '../model/job.ts';
import { mergeVars } from '../model/merge-vars.ts';
import type { SpanReference } from '../model/span.ts';
import { jobEnvironment as traceEnvironment } from '../tracing/carrier.ts';
import { playbookSpan } from '../tracing/span-ids.ts';
import { inventoryPath, type JobVariables } from './ansible/ansible-run.ts';
import { commonVariables, hostFacts } from './host-variables.ts';
import { RESULT_FILE } from './returned/result-file.ts';
import type { JobView } from './sandbox/sandbox.ts';
import { STEP_FILE } from './step-file.ts';

/** In the order in which they run. `post-run` also follows a failure of the others, unless `isFinalEnd` ends the build. */
export type Phase = 'pre-run' | 'run' | 'post-run';

/** Name of the JSON file with {@link jobVariables}, below `info`, where the job can only read. */
export const VARIABLES_FILE = 'variables.json';

/** One playbook in the course of its build: decides the variables of its phase and the id of its span. */
export interface PlaybookFacts {
  readonly playbook: BuildPlaybook;
  readonly phase: Phase;
  /** How many playbooks of the same path ran before in this build. */
  readonly ordinal: number;
  /** It is part of the build's continuation trace; `ordinal` starts again at its beginning. */
  readonly continued: boolean;
  /** In post-run: whether pre-run and run succeeded. */
  readonly success: boolean | null;
  /** In post-run: whether, as it stands, the job will be tried again. */
  readonly willRetry: boolean | null;
}

/** `zuul` as in the request, completed with facts only the executor knows, and the job's own variables. @param site above all of them. */
export function jobVariables(
  request: BuildRequest,
  view: JobView,
  hostname: string,
  site: Variables = {},
  connections?: ReadonlyMap<string, Variables>,
): JobVariables {
  return {
    zuul: {
      ...request.zuul,
      ...(request.job.ansibleVersion === undefined ? {} : { ansible_version: request.job.ansibleVersion }),
      executor: {
        hostname,
        src_root: `${view.work}/src`,
        log_root: `${view.work}/logs`,
        work_root: view.work,
        inventory_file: inventoryPath(view.info, request.job.nodes.length > 0),
        result_data_file: `${view.work}/${RESULT_FILE}`,
      },
    },
    vars: {
      ...commonVariables({ ...request.job, vars: mergeVars(request.parentData ?? {}, request.job.vars) }),
      ...site,
    },
    hosts: withoutNames(hostFacts(request.job, connections), site),
    site,
  };
}

/** What a host has under a name of the installation does not count. */
function withoutNames(hosts: JobVariables['hosts'], site: Variables): JobVariables['hosts'] {
  const remains = ([name]: readonly [string, Json]) => !Object.hasOwn(site, name);
  return new Map(
    [...hosts].map(([host, facts]) => [
      host,
      { ...facts, vars: Object.fromEntries(Object.entries(facts.vars).filter(remains)) },
    ]),
  );
}

/** The text of the variables file. */
export function variablesFile({ zuul, vars, hosts }: JobVariables): string {
  return `${JSON.stringify({ zuul, vars, nodes: Object.fromEntries(hosts) }, null, 2)}\n`;
}

/** What every playbook gets. `sandbox-runner.ts` adds what Ansible and the relay need, and the inbound trace while tracing is off. */
export function playbookEnvironment(
  request: BuildRequest,
  view: JobView,
  facts: PlaybookFacts,
): { readonly [name: string]: string } {
  return {
    PATH: view.path,
    HOME: view.home,
    TMPDIR: view.tmp,
    USER: 'job',
    LOGNAME: 'job',
    LANG: 'C.UTF-8',
    CI: 'true',
    ...zuulEnvironment(request, view),
    ZUUL_PHASE: facts.phase,
    ...(facts.success === null ? {} : { ZUUL_SUCCESS: String(facts.success) }),
    ...(facts.willRetry === null ? {} : { ZUUL_WILL_RETRY: String(facts.willRetry) }),
    GATEHOUSE_RETURN: `${view.work}/${RESULT_FILE}`,
    GATEHOUSE_STEPS: `${view.work}/${STEP_FILE}`,
    GATEHOUSE_STEP: spanOf(request, facts)?.spanId ?? '',
    ...traceOf(request, facts),
  };
}

function zuulEnvironment(request: BuildRequest, view: JobView): { readonly [name: string]: string } {
  const variables = `${view.info}/${VARIABLES_FILE}`;
  return {
    ZUUL_BUILD: request.uuid,
    ZUUL_BUILDSET: request.buildset,
    ZUUL_JOB: request.job.plainName ?? request.jobName,
    ZUUL_TENANT: request.tenant,
    ZUUL_PIPELINE: request.pipeline,
    ZUUL_ATTEMPT: String(request.attempt),
    ZUUL_VOTING: String(request.job.voting),
    ...fromRequest(request.zuul),
    ZUUL_WORK_DIR: view.work,
    ZUUL_SRC_DIR: `${view.work}/src`,
    ZUUL_LOG_DIR: `${view.work}/logs`,
    ZUUL_ARTIFACTS_DIR: `${view.work}/artifacts`,
    ZUUL_VARIABLES_FILE: variables,
    GATEHOUSE_VARIABLES: variables,
  };
}

/** The facts of the change that scripts use most; those the request lacks (a ref update has no change) are absent. */
function fromRequest(zuul: BuildRequest['zuul']): { readonly [name: string]: string } {
  const named: readonly (readonly [string, Json | undefined])[] = [
    ['ZUUL_PROJECT', fieldOf(zuul.project, 'canonical_name') ?? fieldOf(zuul.project, 'name')],
    ['ZUUL_BRANCH', zuul.branch],
    ['ZUUL_CHANGE', zuul.change],
    ['ZUUL_PATCHSET', zuul.patchset],
    ['ZUUL_CHANGE_URL', zuul.change_url],
    ['ZUUL_REF', zuul.ref],
    ['ZUUL_TAG', zuul.tag],
    ['ZUUL_COMMIT', zuul.commit_id],
    ['ZUUL_OLDREV', zuul.oldrev],
    ['ZUUL_NEWREV', zuul.newrev],
    ['ZUUL_EVENT', zuul.event_id],
  ];
  const found: Record<string, string> = {};
  for (const [name, value] of named) {
    // An environment cannot hold a NUL byte.
    if ((typeof value === 'string' && !value.includes('\0')) || typeof value === 'number')
      found[name] = String(value);
  }
  return found;
}

function fieldOf(value: Json | undefined, name: string): Json | undefined {
  return isObject(value) ? value[name] : undefined;
}

function isObject(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Absolute path, in the job's view, of the change's own project; the sources' root when the request names none. */
export function workingDirectory(request: BuildRequest, view: Pick<JobView, 'work'>): string {
  const canonical = fieldOf(request.zuul.project, 'canonical_name');
  const own =
    request.projects.find(({ canonicalName }) => canonicalName === canonical) ?? request.projects[0];
  return own === undefined ? `${view.work}/src` : `${view.work}/src/${own.place ?? own.canonicalName}`;
}

/** Undefined while tracing is off. */
function spanOf({ trace, uuid }: BuildRequest, facts: PlaybookFacts): SpanReference | undefined {
  const { playbook, ordinal, continued } = facts;
  return trace === null
    ? undefined
    : playbookSpan(uuid, trace, { subject: playbook.path, ordinal, continued });
}

function traceOf(request: BuildRequest, facts: PlaybookFacts): { readonly [name: string]: string } {
  const { trace } = request;
  const span = spanOf(request, facts);
  if (trace === null || span === undefined) return {};
  return traceEnvironment({
    ...span,
    sampled: trace.sampled,
    ...(trace.traceState === undefined ? {} : { traceState: trace.traceState }),
    baggage: {
      tenant: request.tenant,
      pipeline: request.pipeline,
      item: request.item,
      buildset: request.buildset,
      build: request.uuid,
      job: request.jobName,
    },
  });
}
