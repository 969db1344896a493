/** Hosts that jobs run on over ssh. */
import type { HeldBuild, HoldFilter, HoldRequest } from '../../hold-request.ts';
import type {
  GrantedHost,
  HostOutage,
  HostState,
  NodeGrant,
  StaticHost,
  WantedNodes,
} from '../../static-host.ts';
import {
  byName,
  json,
  list,
  nonEmpty,
  object,
  optional,
  tagged,
  text,
  time,
  uuid,
  whole,
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
  held: list(object<HeldBuild>({ build: uuid, at: time, hosts: list(text) })),
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
  hosts: list(object<GrantedHost>({ node: text, host: text })),
  zone: optional(text),
});
