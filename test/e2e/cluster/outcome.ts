/**
 * The standard oracle: what must hold when all is quiet, regardless of what happened before.
 *
 * Every change ended as its content demands, exactly once; what landed is what was tested, in queue order; every item has
 * one root span with the start it had when it was enqueued; the store holds nothing that is not needed.
 */

import type { QueueItem } from '../../../src/model/queue-item.ts';
import { checkTraces, type SinkSpan } from '../../fake/otlp-sink.ts';
import { brokenChains, itemRoots, unfinished } from '../event-chains.ts';
import {
  gitText,
  itemProblems,
  itemsInHistory,
  landedCommits,
  landedTwice,
  refsOf,
  untestedLandings,
} from '../landed.ts';
import type { Cluster } from './cluster.ts';
import { TENANT } from './layout.ts';
import { leftovers } from './leftovers.ts';
import { changeId } from './load.ts';
import type { Pushed } from './push-change.ts';
import { stateOf } from './settings-text.ts';
import { replay } from './store-replay.ts';
import { DEADLINE, waitFor } from './wait-for.ts';
import { workProblems } from './work-oracle.ts';

/** Waits until all that was pushed has left and is reported everywhere. @param deadlineMs for each of the three. */
export async function untilQuiet(cluster: Cluster, deadlineMs = DEADLINE): Promise<void> {
  const { pushed } = cluster;
  const everyEnd = async () => {
    const ended = await cluster.api.get<readonly { readonly pipeline: string }[]>(
      `/api/tenant/${TENANT}/items?limit=100`,
    );
    return ended.length >= pushed.length;
  };
  await waitFor(`all of ${pushed.length} changes to be in the history`, everyEnd, deadlineMs);
  let left: readonly string[] = [];
  const isEmpty = async () => {
    left = leftovers(replay(await cluster.log.read()), cluster.storeRoot);
    if (left.length > 0) throw new Error(left.join('\n'));
    return true;
  };
  await waitFor('the store to be empty', isEmpty, deadlineMs);
  const isComplete = () => unfinished(cluster.sink.spans).length === 0;
  await waitFor('the collector to have every root', isComplete, deadlineMs);
}

export interface Expectation {
  /** `any`: pushes came side by side, so that only the order of the queue counts. */
  readonly landingOrder: 'as pushed' | 'any';
}

/** One sentence per thing that is not as it must be. */
export async function problemsOf(
  cluster: Cluster,
  expectation: Expectation = { landingOrder: 'as pushed' },
): Promise<readonly string[]> {
  const { pushed } = cluster;
  const items = await itemsInHistory(stateOf(cluster.root), TENANT);
  const byEnqueueing = items.toSorted((a, b) => Number(BigInt(a.enqueuedAt) - BigInt(b.enqueuedAt)));
  return [
    ...cluster.processes.flatMap(each => each.failures),
    ...resultProblems(byEnqueueing, pushed),
    ...items.flatMap(itemProblems),
    ...(await landingProblems(cluster, byEnqueueing, pushed, expectation)),
    ...(await noteProblems(cluster, items, pushed)),
    ...spanProblems(cluster, items),
    ...sightingProblems(cluster, items),
    ...deliveryProblems(cluster, pushed),
    ...replay(await cluster.log.read()).trespasses,
    ...workProblems(cluster.log.transactions),
  ];
}

/** Records and spans of the items that problems name by their uuid, one JSON line each: of a run that cannot be had again. */
export async function evidenceOf(cluster: Cluster, problems: readonly string[]): Promise<readonly string[]> {
  const items = await itemsInHistory(stateOf(cluster.root), TENANT);
  return items
    .filter(({ uuid }) => problems.some(problem => problem.includes(uuid)))
    .map(item => {
      const spans = cluster.sink.spans
        .filter(({ traceId }) => traceId === item.uuid)
        .map(({ name, spanId, start, end }) => [name, spanId, String(start), String(end)]);
      return JSON.stringify({ item, spans });
    });
}

function resultProblems(items: readonly QueueItem[], pushed: readonly Pushed[]): readonly string[] {
  return pushed.flatMap(change => {
    const mine = items.filter(item =>
      item.changes.some(each => each.kind === 'change' && each.commit === change.commit),
    );
    const results = mine.map(item => (item.phase.phase === 'left' ? item.phase.result : 'still there'));
    return results.length === 1 && results[0] === change.expected
      ? []
      : [`${change.topic} ended as [${results.join(', ')}], not once as ${change.expected}`];
  });
}

async function landingProblems(
  cluster: Cluster,
  items: readonly QueueItem[],
  pushed: readonly Pushed[],
  { landingOrder }: Expectation,
): Promise<readonly string[]> {
  const problems: string[] = [];
  const inOrder = (topics: readonly string[]) =>
    (landingOrder === 'any' ? topics.toSorted() : topics).join(', ');
  for (const { name, bare } of cluster.projects.values()) {
    const mine = pushed.filter(change => change.project === name);
    const landed = await landedCommits(bare);
    const topics = landed.map(
      each => mine.find(change => change.commit === each.head)?.topic ?? each.subject,
    );
    const expected = mine.filter(change => change.expected === 'SUCCESS').map(change => change.topic);
    if (inOrder(topics) !== inOrder(expected))
      problems.push(`${name} has [${inOrder(topics)}], it should have [${inOrder(expected)}]`);
    problems.push(...landedTwice(landed).map(head => `${name}: ${head} landed twice`));
    problems.push(...untestedLandings(landed, name, items));
    const refs = await refsOf(bare);
    for (const change of mine) {
      const there = ['for', 'gate'].filter(kind => refs.has(`refs/heads/${kind}/${changeId(change)}`));
      if (there.length !== (change.expected === 'SUCCESS' ? 0 : 2))
        problems.push(`${change.topic}: its refs are [${there.join(', ')}]`);
    }
  }
  return [...problems, ...(await orderProblems(cluster, items))];
}

/** Over all projects of the queue: what was enqueued first landed first. */
async function orderProblems(cluster: Cluster, items: readonly QueueItem[]): Promise<readonly string[]> {
  const landed = (
    await Promise.all([...cluster.projects.values()].map(each => landedCommits(each.bare)))
  ).flat();
  let latest = 0n;
  return (await cluster.journal.read()).flatMap(change => {
    const head = landed.find(each => change.ref === 'refs/heads/master' && each.commit === change.new)?.head;
    const item = items.find(each => each.changes.some(one => one.kind === 'change' && one.commit === head));
    if (item === undefined) return [];
    const enqueued = BigInt(item.enqueuedAt);
    if (enqueued < latest) return [`${item.changes[0].key} landed after one that was enqueued later`];
    latest = enqueued;
    return [];
  });
}

/** Said once, however often it was tried. */
async function noteProblems(
  cluster: Cluster,
  items: readonly QueueItem[],
  pushed: readonly Pushed[],
): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const change of pushed) {
    const bare = cluster.projects.get(change.project)?.bare ?? '';
    const note = await gitText(bare, 'notes', '--ref=gatehouse', 'show', change.commit).catch(() => '');
    const item = items.find(each =>
      each.changes.some(one => one.kind === 'change' && one.commit === change.commit),
    );
    const times = note.split(`item ${item?.uuid}`).length - 1;
    if (times !== 1) problems.push(`${change.topic} got its result ${times} times`);
  }
  return problems;
}

function spanProblems({ sink }: Cluster, items: readonly QueueItem[]): readonly string[] {
  const roots = itemRoots(sink.spans);
  return [
    ...unfinished(sink.spans).map(span => `span ${span.name} of trace ${span.traceId} has no root`),
    ...checkTraces(sink.spans, { repeatsAllowed: true }),
    ...brokenChains(sink.spans),
    ...items.flatMap(item => {
      const copies = roots.get(item.uuid) ?? [];
      if (copies.length === 0) return [`item ${item.uuid} has no root span`];
      const end = item.phase.phase === 'left' ? BigInt(item.phase.at) : 0n;
      return copies.some(root => root.start !== BigInt(item.enqueuedAt) || root.end !== end)
        ? [`the root of item ${item.uuid} has other times than the item`]
        : [];
    }),
  ];
}

/** Ids and times are those from before the faults. */
function sightingProblems({ sightings }: Cluster, items: readonly QueueItem[]): readonly string[] {
  const known = new Map<string, QueueItem>(items.map(item => [item.uuid, item]));
  const problems = [...sightings.items.values()].flatMap(seen => {
    const item = known.get(seen.uuid);
    if (item === undefined) return [`${seen.change} was seen as ${seen.uuid}, which is in no history`];
    const enqueued = Number(BigInt(item.enqueuedAt) / 1000n) / 1000;
    return Math.abs(enqueued - seen.enqueuedAt) < 0.01
      ? []
      : [`${seen.uuid} was seen with another time of enqueueing: ${seen.enqueuedAt}, now ${enqueued}`];
  });
  return [...problems, ...sightings.contradictions];
}

/** Items that the webs never showed while they were in the gate; none, as long as nothing happens to the webs. */
export async function unseenItems({ root, sightings }: Cluster): Promise<readonly string[]> {
  const items = await itemsInHistory(stateOf(root), TENANT);
  return items.filter(item => !sightings.items.has(item.uuid)).map(item => item.changes[0].key);
}

/** What was acknowledged has an end that can be seen, and each change at the host was an event once. */
function deliveryProblems({ deliveries, sink }: Cluster, pushed: readonly Pushed[]): readonly string[] {
  const arrived = new Map<string, SinkSpan>();
  for (const span of sink.spans)
    if (span.parentSpanId === null && typeof span.attributes['gatehouse.delivery.id'] === 'string')
      arrived.set(span.spanId, span);
  const roots = [...arrived.values()];
  const ids = new Set(
    roots.flatMap(({ attributes }) => [
      attributes['gatehouse.delivery.id'],
      ...[attributes['gatehouse.delivery.answered'] ?? []].flat(),
    ]),
  );
  const lost = [...new Set(deliveries.taken)].filter(id => !ids.has(`delivery-${id}`));
  return [
    ...lost.map(id => `delivery ${id} was taken and never ended`),
    ...pushed.flatMap(change =>
      ['proposed', 'approved'].flatMap(type => {
        const forwarded = roots.filter(
          span =>
            span.attributes['gatehouse.event.type'] === type &&
            String(span.attributes['gatehouse.change']).startsWith(`${change.project} ${changeId(change)},`),
        );
        return forwarded.length === 1 ? [] : [`${change.topic} was ${type} ${forwarded.length} times`];
      }),
    ),
  ];
}
