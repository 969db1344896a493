/** Hosts that jobs run on over ssh. */
import type {
  GrantedHost,
  HostOutage,
  HostState,
  NodeGrant,
  StaticHost,
  WantedNodes,
} from '../../static-host.ts';
import { byName, json, list, nonEmpty, object, optional, text, time, uuid, whole } from '../schema.ts';

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
  held: optional(object<NonNullable<HostState['held']>>({ reason: text, since: time })),
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
});
