/** Events about a build's hosts: of the pipeline that requests it, the scheduler that grants them, and the executor that gives them back. */
import type { Nanoseconds } from '../lib/clock.ts';
import { derivedUuid, type Uuid } from '../lib/ids.ts';
import type { BuildRequest } from './build-request.ts';
import type { PipelineEvent } from './event.ts';
import type { GrantedHost, WantedNodes } from './static-host.ts';

type NodeEvent<Kind extends PipelineEvent['kind']> = Extract<PipelineEvent, { readonly kind: Kind }>;

/** Its uuid is derived, as those of the others, so that a repeated event is recognised. */
export function nodesWanted(build: Uuid, wanted: WantedNodes, at: Nanoseconds): NodeEvent<'nodes-wanted'> {
  const labels = wanted.nodes.map(({ label }) => label);
  return { kind: 'nodes-wanted', ...placeOf(build, wanted, 'nodes-wanted'), at, labels };
}

/** Has all of its hosts, in the order of its nodes. */
export function nodesGranted(
  build: Uuid,
  wanted: WantedNodes,
  { at, hosts }: { readonly at: Nanoseconds; readonly hosts: readonly GrantedHost[] },
): NodeEvent<'nodes-granted'> {
  const byNode = new Map(hosts.map(({ node, host }) => [node, host]));
  const inOrder = wanted.nodes.flatMap(({ name }) => byNode.get(name) ?? []);
  const making = hosts.some(({ made }) => made === true) ? ({ making: true } as const) : {};
  const place = placeOf(build, wanted, `nodes-granted ${at}`);
  return { kind: 'nodes-granted', ...place, at, hosts: inOrder, ...making };
}

/** @param reason one line for people. */
export function nodesReturned(
  build: Uuid,
  wanted: WantedNodes,
  at: Nanoseconds,
  reason: string,
): NodeEvent<'nodes-returned'> {
  return { kind: 'nodes-returned', ...placeOf(build, wanted, `nodes-returned ${at}`), at, reason };
}

function placeOf(build: Uuid, { of: { item, buildset } }: WantedNodes, what: string) {
  return { uuid: derivedUuid(build, what), item, buildset, build };
}

/** The build ends without having begun: a failure of machines, which is not tried again. @param detail one line for people. */
export function nodesFailed(
  { uuid, item, buildset }: Pick<BuildRequest, 'uuid' | 'item' | 'buildset'>,
  at: Nanoseconds,
  detail: string,
): NodeEvent<'build-result'> {
  return {
    kind: 'build-result',
    uuid: derivedUuid(uuid, 'nodes-failed'),
    ...{ item, buildset, build: uuid, at, detail },
    result: 'NODE_FAILURE',
    worker: null,
    execution: null,
  };
}
