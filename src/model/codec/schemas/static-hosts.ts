/** Hosts that jobs run on over ssh, and providers of pods. */
import type { HeldBuild, HoldFilter, HoldRequest, KeptWorkspace } from '../../hold-request.ts';
import type { KubernetesPool, PodTemplate, PullPolicy } from '../../kubernetes-pool.ts';
import type {
  GrantedHost,
  HostOutage,
  HostState,
  KeptNodes,
  NodeGrant,
  StaticHost,
  WantedNodes,
} from '../../static-host.ts';
import {
  byName,
  json,
  list,
  mark,
  nonEmpty,
  object,
  optional,
  tagged,
  text,
  time,
  uuid,
  whole,
  words,
} from '../schema.ts';

/** {@link StaticHost}, the record `static-host`. */
export const staticHostSchema = object<StaticHost>({
  name: text,
  address: text,
  port: whole,
  username: text,
  hostKeys: nonEmpty(text),
  privateKey: text,
  maxParallelJobs: whole,
  labels: list(text),
  zone: optional(text),
  pythonPath: optional(text),
  variables: optional(byName(json)),
});

const podTemplate = object<PodTemplate>({
  image: text,
  pullPolicy: words<PullPolicy>({ Always: 1, IfNotPresent: 1, Never: 1 }),
  cpu: optional(whole),
  memory: optional(whole),
  pullSecrets: optional(list(text)),
  nodeSelector: optional(byName(text)),
  privileged: optional(mark),
  pythonPath: optional(text),
  variables: optional(byName(json)),
});

/** {@link KubernetesPool}, the record `kubernetes-pool`. */
export const kubernetesPoolSchema = object<KubernetesPool>({
  name: text,
  zone: optional(text),
  kubeconfig: optional(text),
  context: optional(text),
  namespace: optional(text),
  maxParallelJobs: whole,
  maxCpu: optional(whole),
  maxMemory: optional(whole),
  startTimeout: whole,
  labels: list(text),
  pods: byName(podTemplate),
});

const trouble = object<HostOutage>({
  reason: text,
  since: time,
  tries: whole,
  retryAt: time,
  leftovers: optional(list(uuid)),
});

/** {@link HostState}, the record `host-state`. */
export const hostStateSchema = object<HostState>({
  trouble: optional(trouble),
  held: optional(
    object<NonNullable<HostState['held']>>({
      reason: text,
      since: time,
      request: optional(
        object<NonNullable<NonNullable<HostState['held']>['request']>>({ id: text, build: uuid }),
      ),
    }),
  ),
  kept: optional(list(object<KeptNodes>({ request: text, build: uuid, since: time, labels: list(text) }))),
});

/** {@link HoldRequest}, the record `hold-request`. */
export const holdRequestSchema = object<HoldRequest>({
  tenant: text,
  project: text,
  job: text,
  filter: tagged<HoldFilter, 'on'>('on', { all: {}, change: { change: text }, ref: { ref: text } }),
  reason: text,
  by: text,
  at: time,
  maxCount: whole,
  count: whole,
  expiration: whole,
  held: list(
    object<HeldBuild>({
      ...{ build: uuid, at: time, hosts: list(text) },
      workspace: optional(object<KeptWorkspace>({ executor: text, path: text, bytes: whole })),
    }),
  ),
});

/** {@link WantedNodes}, in requests for builds. */
export const wantedNodesSchema = object<WantedNodes>({
  tenant: text,
  of: object<WantedNodes['of']>({ pipeline: text, item: uuid, buildset: uuid }),
  requestedAt: time,
  nodes: list(object<WantedNodes['nodes'][number]>({ name: text, label: text })),
  returns: optional(whole),
});

/** {@link NodeGrant}, in requests for builds. */
export const nodeGrantSchema = object<NodeGrant>({
  at: time,
  hosts: list(object<GrantedHost>({ node: text, host: text, made: optional(mark) })),
  zone: optional(text),
});
