/**
 * Applies the events about a build's hosts: it waits for some, has got some, or its executor gave them back before it began. An event
 * about a build that began or ended meanwhile is ignored: its spans may be exported.
 */
import { earlierOf, laterOf, type Nanoseconds } from '../lib/clock.ts';
import type { Build } from '../model/build.ts';
import type { PipelineEvent } from '../model/event.ts';
import { lastNodeWait, type MadeNode, type NodeRequest } from '../model/node-wait.ts';
import { buildOfEvent, type FoundBuild, ignoreFor, putNodes, within } from './found-build.ts';
import { startAfterWaits } from './since-taken.ts';
import type { TurnDraft } from './turn-draft.ts';

type Wanted = Extract<PipelineEvent, { readonly kind: 'nodes-wanted' }>;
type Granted = Extract<PipelineEvent, { readonly kind: 'nodes-granted' }>;
type Returned = Extract<PipelineEvent, { readonly kind: 'nodes-returned' }>;

/** Its first wait: since it was requested. */
export function applyNodesWanted(draft: TurnDraft, event: Wanted): void {
  const found = buildOfEvent(draft, event);
  if (found === undefined) return;
  const { build } = found;
  if (build.state.state !== 'requested' || build.nodes !== undefined) {
    ignoreFor(draft, found, event, 'a wait for nodes');
    return;
  }
  putNodes(draft, found, {
    labels: event.labels,
    waits: [{ since: build.requestedAt, granted: null }],
  });
}

export function applyNodesGranted(draft: TurnDraft, event: Granted): void {
  const found = buildOfEvent(draft, event);
  if (found === undefined) return;
  const { nodes, state } = found.build;
  const wait = lastNodeWait(found.build);
  if (state.state !== 'requested' || nodes === undefined || wait?.granted !== null) {
    ignoreFor(draft, found, event, 'a grant of nodes');
    return;
  }
  const at = timeOf(draft, found, event.at, wait.since);
  const making = event.making === undefined ? {} : { making: event.making };
  putNodes(draft, found, withLast(nodes, { ...wait, granted: { at, hosts: event.hosts, ...making } }));
}

export function applyNodesReturned(draft: TurnDraft, event: Returned): void {
  const found = buildOfEvent(draft, event);
  if (found === undefined) return;
  const { nodes, state } = found.build;
  const wait = lastNodeWait(found.build);
  if (state.state !== 'requested' || nodes === undefined || !wait?.granted) {
    ignoreFor(draft, found, event, 'a return of nodes');
    return;
  }
  const at = timeOf(draft, found, event.at, wait.granted.at);
  const before = withLast(nodes, { ...wait, returned: { at, reason: event.reason } });
  putNodes(draft, found, { ...before, waits: [...before.waits, { since: at, granted: null }] });
}

/** With the nodes that its executor has made for it, as it begins. @param now when it began. */
export function withMadeNodes(build: Build, nodes: readonly MadeNode[] | undefined, now: Nanoseconds): Build {
  const wait = lastNodeWait(build);
  if (nodes === undefined || build.nodes === undefined || !wait?.granted) return build;
  const from = wait.granted.at;
  const made = nodes.map(node => {
    const createdAt = within(node.createdAt, from, now);
    const scheduledAt = within(node.scheduledAt, createdAt, now);
    return { ...node, createdAt, scheduledAt, readyAt: within(node.readyAt, scheduledAt, now) };
  });
  const at = made.reduce((last, { readyAt }) => laterOf(last, readyAt), from);
  return { ...build, nodes: withLast(build.nodes, { ...wait, made: { at, nodes: made } }) };
}

/** Bounded by what was before it and by now; not within a wait that was exported. */
function timeOf(draft: TurnDraft, { item }: FoundBuild, at: Wanted['at'], from: Wanted['at']): Wanted['at'] {
  const before = draft.input.state.items.get(item.uuid) ?? item;
  const { now } = draft.input;
  return earlierOf(startAfterWaits(before, within(at, from, now)), now);
}

function withLast(nodes: NodeRequest, last: NodeRequest['waits'][number]): NodeRequest {
  const [first, ...rest] = nodes.waits;
  return { ...nodes, waits: rest.length === 0 ? [last] : [first, ...rest.slice(0, -1), last] };
}
