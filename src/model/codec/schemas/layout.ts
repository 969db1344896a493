/** What is stored of a tenant's layout. */
import type { AuthorizationRule, RootAccess, TenantAccess } from '../../authorization.ts';
import type { AnsibleChoice, LayoutSources, LayoutSummary, Tenant, TenantProject } from '../../layout.ts';
import type { DriverConfig, ManagerName, Pipeline, WindowPolicy } from '../../pipeline.ts';
import type { SemaphoreScope } from '../../semaphore.ts';
import {
  added,
  byName,
  flag,
  json,
  list,
  mark,
  nullable,
  number,
  object,
  optional,
  project,
  text,
  time,
  whole,
  words,
} from '../schema.ts';
import { precedenceSchema } from './buildsets.ts';
import { configErrorSchema } from './causes.ts';

const projects = list(
  object<TenantProject>({
    project,
    trusted: flag,
    includeBranches: list(text),
    excludeBranches: list(text),
    alwaysDynamicBranches: optional(list(text)),
    excludeUnprotected: optional(mark),
    excludeLocked: optional(mark),
    loadBranch: optional(text),
    extraConfigPaths: optional(list(text)),
    itemKinds: optional(list(text)),
    shadows: optional(list(project)),
    impliedBranchMatchers: optional(flag),
    noBaseJobs: optional(mark),
    configures: optional(list(text)),
  }),
);

const drivers = list(object<DriverConfig>({ connection: text, config: json, definedAt: text }));
const message = optional(text);

const step = object<WindowPolicy['increase']>({
  type: words<WindowPolicy['increase']['type']>({ linear: 1, exponential: 1 }),
  factor: number,
});

const pipelines = list(
  object<Pipeline>({
    name: text,
    manager: words<ManagerName>({ independent: 1, dependent: 1, serial: 1, supercedent: 1 }),
    description: optional(text),
    precedence: precedenceSchema,
    postReview: flag,
    triggers: drivers,
    require: drivers,
    reject: drivers,
    reporters: object<Pipeline['reporters']>({
      enqueue: drivers,
      start: drivers,
      success: drivers,
      failure: drivers,
      'merge-conflict': drivers,
      'config-error': drivers,
      'no-jobs': drivers,
      dequeue: drivers,
      disabled: drivers,
    }),
    messages: object<Pipeline['messages']>({
      enqueue: message,
      start: message,
      success: message,
      failure: message,
      'merge-conflict': message,
      'config-error': message,
      'no-jobs': message,
      dequeue: message,
      disabled: message,
      footer: message,
    }),
    window: object<WindowPolicy>({
      initial: whole,
      floor: whole,
      ceiling: optional(whole),
      increase: step,
      decrease: step,
    }),
    supercedes: list(text),
    dequeueOnNewPatchset: flag,
    allowOtherConnections: flag,
    ignoresDependencies: optional(mark),
    reuseResults: optional(mark),
    landsOneByOne: optional(mark),
    disableAfterConsecutiveFailures: optional(whole),
  }),
);

const rules = list(object<AuthorizationRule>({ name: text, conditions: list(byName(json)) }));

const access = object<TenantAccess>({
  accessRules: rules,
  adminRules: rules,
  realm: optional(text),
  root: optional(object<RootAccess>({ accessRules: rules, realm: optional(text) })),
});

const tenant = object<Tenant>({
  name: text,
  projects,
  hosts: optional(byName(text)),
  maxDependencies: optional(whole),
  maxChangesPerPipeline: optional(whole),
  maxJobTimeout: number,
  maxNodesPerJob: optional(whole),
  defaultParent: optional(text),
  allowedTriggers: optional(list(text)),
  allowedReporters: optional(list(text)),
  allowedLabels: optional(list(text)),
  disallowedLabels: optional(list(text)),
  globalSemaphores: optional(byName(whole)),
  access: optional(access),
  ansible: optional(object<AnsibleChoice>({ versions: list(text), usual: optional(text) })),
  shadowMode: optional(mark),
});

const sources = object<LayoutSources>({
  tenant,
  projects: list(
    object<LayoutSources['projects'][number]>({
      project,
      branches: list(object({ branch: text, digest: text })),
    }),
  ),
});

/** {@link LayoutSummary}, the record `layout`. */
export const layoutSummarySchema = object<LayoutSummary>({
  tenant: text,
  version: whole,
  reconfiguredAt: time,
  projects,
  pipelines,
  retired: pipelines,
  jobs: list(text),
  semaphores: added(
    list(
      object<LayoutSummary['semaphores'][number]>({
        name: text,
        scope: words<SemaphoreScope>({ tenant: 1, global: 1 }),
        max: whole,
      }),
    ),
    () => [],
  ),
  cycleConnections: added(list(text), () => []),
  errors: list(configErrorSchema),
  errorCount: whole,
  builtFrom: nullable(sources),
});
