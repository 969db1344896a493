/** Frozen jobs, and requests to executors to run them. */
import type {
  BuildPlaybook,
  BuildProject,
  BuildRequest,
  BuildRole,
  BuildTrace,
  BuildVarsFile,
} from '../../build-request.ts';
import type {
  EncryptedValue,
  FrozenJob,
  FrozenNodeset,
  FrozenSecret,
  JobDependency,
  JobGraph,
  JobNode,
  JobRole,
  JobVarsFile,
  NodeGroup,
  NodeRequirement,
  Playbook,
  PlaybookSecret,
  RequiredProject,
  SecretsByHash,
} from '../../job.ts';
import type { SealedData } from '../../returned.ts';
import type { JobSemaphore, SemaphoreScope, WantedSemaphore } from '../../semaphore.ts';
import {
  added,
  byName,
  commit,
  either,
  flag,
  json,
  list,
  mark,
  nullable,
  number,
  object,
  optional,
  project,
  type Schema,
  spanId,
  text,
  time,
  traceId,
  uuid,
  whole,
  words,
} from '../schema.ts';

const playbookFields = {
  project,
  branch: text,
  path: text,
  trusted: flag,
  level: optional(whole),
  semaphores: optional(list(text)),
  secrets: optional(list(object<PlaybookSecret>({ name: text, secret: text }))),
  cleanup: optional(words<NonNullable<Playbook['cleanup']>>({ judged: 1, unjudged: 1 })),
  roles: optional(list(whole)),
};
const playbooks = list(object<Playbook>(playbookFields));
const secrets: Schema<SecretsByHash> = byName(
  object<FrozenSecret>({
    name: text,
    project,
    plain: byName(json),
    encrypted: list(object<EncryptedValue>({ at: list(either(text, whole)), chunks: list(text) })),
  }),
);
const roleFields = { project, name: text, implicit: optional(mark) };
const dependencies = list(object<JobDependency>({ name: text, soft: flag }));
const ownTrace = words<'own'>({ own: 1 });
const semaphores = list(object<JobSemaphore>({ name: text, resourcesFirst: optional(mark) }));

const workspaceCheckout: Schema<false | 'auto'> = { node: { enum: [false, 'auto'] } };
const nodesetFields = {
  nodesetName: optional(text),
  nodes: list(object<NodeRequirement>({ name: text, label: text, aliases: optional(list(text)) })),
  groups: optional(list(object<NodeGroup>({ name: text, nodes: list(text) }))),
};
const namedVariables = byName(byName(json));

const frozenJobSchema = object<FrozenJob>({
  name: text,
  plainName: optional(text),
  change: optional(whole),
  description: optional(text),
  preRun: playbooks,
  run: playbooks,
  postRun: playbooks,
  roles: optional(list(object<JobRole>({ ...roleFields, branch: optional(text) }))),
  timeout: optional(number),
  preTimeout: optional(number),
  postTimeout: optional(number),
  attempts: whole,
  voting: flag,
  dependencies,
  requiredProjects: list(object<RequiredProject>({ project, overrideCheckout: optional(text) })),
  overrideCheckout: optional(text),
  vars: byName(json),
  includeVars: optional(
    list(
      object<JobVarsFile>({
        project: optional(project),
        path: text,
        optional: optional(mark),
        branchOnly: optional(mark),
      }),
    ),
  ),
  extraVars: optional(byName(json)),
  hostVars: optional(namedVariables),
  groupVars: optional(namedVariables),
  ...nodesetFields,
  alternatives: optional(list(object<FrozenNodeset>(nodesetFields))),
  holdFollowingChanges: flag,
  failFast: flag,
  network: flag,
  trace: optional(ownTrace),
  deduplicate: optional(flag),
  semaphores: optional(semaphores),
  workspaceScheme: optional(words<'flat' | 'unique'>({ flat: 1, unique: 1 })),
  workspaceCheckout: optional(workspaceCheckout),
  successMessage: optional(text),
  failureMessage: optional(text),
  tags: list(text),
  provides: optional(list(text)),
  requires: optional(list(text)),
  failureOutput: optional(list(text)),
  ansibleVersion: optional(text),
  definedAt: list(text),
});

/** {@link JobGraph}, the record `job-graph`. */
export const jobGraphSchema = object<JobGraph>({ jobs: list(frozenJobSchema), secrets: optional(secrets) });

/** {@link JobNode} */
export const jobNodeSchema = object<JobNode>({
  name: text,
  voting: flag,
  attempts: whole,
  dependencies,
  holdFollowingChanges: flag,
  failFast: flag,
  labels: list(text),
  trace: optional(ownTrace),
  semaphores: optional(semaphores),
  plainName: optional(text),
  change: optional(whole),
  provides: optional(list(text)),
  requires: optional(list(text)),
});

/** {@link BuildTrace} */
export const buildTraceSchema = object<BuildTrace>({
  traceId,
  buildSpan: spanId,
  sampled: flag,
  event: added(nullable(uuid), () => null),
  traceState: optional(text),
  own: optional(mark),
  splitAfterMs: optional(number),
});

const buildPlaybooks = list(
  object<BuildPlaybook>({
    ...playbookFields,
    commit,
    canonicalName: text,
    holds: optional(
      list(
        object<WantedSemaphore>({
          name: text,
          scope: words<SemaphoreScope>({ tenant: 1, global: 1 }),
          max: whole,
        }),
      ),
    ),
  }),
);

/** {@link BuildRequest}, the record `build-request`. */
export const buildRequestSchema = object<BuildRequest>({
  uuid,
  tenant: text,
  pipeline: text,
  item: uuid,
  buildset: uuid,
  job: frozenJobSchema,
  jobName: text,
  attempt: whole,
  requestedAt: time,
  priority: whole,
  projects: list(
    object<BuildProject>({
      project,
      canonicalName: text,
      place: optional(text),
      branch: nullable(text),
      commit,
      required: flag,
    }),
  ),
  playbooks: object<BuildRequest['playbooks']>({
    preRun: buildPlaybooks,
    run: buildPlaybooks,
    postRun: buildPlaybooks,
  }),
  roles: optional(
    list(object<BuildRole>({ ...roleFields, canonicalName: text, branch: nullable(text), commit })),
  ),
  secrets: optional(secrets),
  sshKeyOf: optional(project),
  includeVars: optional(
    list(
      object<BuildVarsFile>({
        project,
        canonicalName: text,
        branch: nullable(text),
        commit,
        path: text,
        optional: optional(mark),
      }),
    ),
  ),
  parentData: optional(byName(json)),
  sealedData: optional(list(object<SealedData>({ build: uuid, sealed: text }))),
  zuul: byName(json),
  changes: optional(text),
  trace: nullable(buildTraceSchema),
});
