/** What must hold at the end of every story. */
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { explainItem } from '../../src/explain/explain.ts';
import { parseNanoseconds } from '../../src/lib/clock.ts';
import type { QueueItem } from '../../src/model/queue-item.ts';
import { brokenChains, itemRoots } from '../e2e/event-chains.ts';
import { itemProblems, itemsInHistory, landedCommits, landedTwice, untestedLandings } from '../e2e/landed.ts';
import { accountOf, disagreement, piecesOf } from '../fake/account-of-spans.ts';
import { executionGaps } from '../fake/execution-gaps.ts';
import { checkTraces, type OtlpSink } from '../fake/otlp-sink.ts';
import type { Developer } from './developer.ts';
import { keysInSentences } from './keys-in-sentences.ts';
import { stateOf, TENANT } from './site.ts';
import type { StoryLog } from './story-log.ts';

export interface StoryEnd {
  readonly root: string;
  readonly sink: OtlpSink;
  readonly log: StoryLog;
  readonly projects: readonly Developer[];
  readonly expectedTrouble: readonly RegExp[];
}

const MILLISECOND = 1_000_000n;

/** Jobs run without isolation here, so that the story can end them; and a busy machine's ZooKeeper takes its time to answer the first call. */
const ALWAYS_EXPECTED = [/isolat|sandbox/i, /waits for .*, which does not answer yet/];

/** @throws Error listing all that is wrong. */
export async function checkStory({ root, sink, log, projects, expectedTrouble }: StoryEnd): Promise<void> {
  const items = await itemsInHistory(stateOf(root), TENANT);
  const expected = [...ALWAYS_EXPECTED, ...expectedTrouble];
  const problems = [
    ...log.trouble
      .filter(line => !expected.some(pattern => pattern.test(line)))
      .map(line => `the log says: ${line}`),
    ...items.flatMap(itemProblems),
    ...items.flatMap(tilingProblems),
    ...items.flatMap(item => accountProblems(item, sink)),
    ...checkTraces(sink.spans),
    ...executionGaps(sink.spans),
    ...brokenChains(sink.spans),
    ...rootProblems(items, sink),
    ...(await keysInSentences(stateOf(root), TENANT, items)),
    ...(await leftovers(path.join(stateOf(root), 'jobs'))),
  ];
  for (const project of projects) {
    // Nothing has landed.
    if ((await project.tip('refs/heads/master')) === project.first) continue;
    const landed = await landedCommits(project.bare);
    problems.push(
      ...untestedLandings(
        landed.filter(each => each.subject.startsWith('Merge ')),
        project.project,
        items,
      ),
      ...landedTwice(landed),
    );
  }
  if (problems.length > 0) throw new Error(`at the end of the story:\n${problems.join('\n')}`);
}

/** Every nanosecond of an item is explained exactly once. */
function tilingProblems(item: QueueItem): readonly string[] {
  const explained = explainItem(item, parseNanoseconds(item.enqueuedAt));
  const sum = (parts: readonly { readonly duration: string }[]) =>
    parts.reduce((total, part) => total + BigInt(part.duration), 0n);
  const whole = BigInt(explained.duration);
  return [
    ...(sum(explained.stretches) === whole
      ? []
      : [`the stretches are ${sum(explained.stretches)} of ${whole} ns`]),
    ...(sum(explained.totals) === whole ? [] : [`the totals are ${sum(explained.totals)} of ${whole} ns`]),
    ...(sum(explained.criticalPath) === whole
      ? []
      : [`the critical path is ${sum(explained.criticalPath)} of ${whole} ns`]),
  ].map(text => `${item.pipeline} ${item.uuid}: ${text}`);
}

/** The spans at the collector account for an item's time as its explanation does. */
function accountProblems(item: QueueItem, sink: OtlpSink): readonly string[] {
  const trace = sink.spans.filter(span => span.traceId === item.uuid);
  if (!trace.some(span => span.parentSpanId === null)) return [];
  const account = accountOf(trace);
  const unexplained = account.duration - account.waits - account.work;
  const explained = piecesOf(explainItem(item, item.enqueuedAt).criticalPath);
  const different = disagreement(explained, account.path);
  return [
    ...account.overlaps.map(states => `${states} were at once`),
    ...(unexplained <= MILLISECOND ? [] : [`${unexplained} ns are explained by neither wait nor work`]),
    ...(different <= MILLISECOND ? [] : [`${different} ns of the critical path are not those of its spans`]),
  ].map(text => `${item.pipeline} ${item.uuid}: ${text}`);
}

function rootProblems(items: readonly QueueItem[], sink: OtlpSink): readonly string[] {
  const roots = itemRoots(sink.spans);
  return items.flatMap(item => {
    const found = roots.get(item.uuid) ?? [];
    if (found.length !== 1) return [`item ${item.uuid} has ${found.length} roots at the collector`];
    return found[0]?.start === BigInt(item.enqueuedAt)
      ? []
      : [`the root of item ${item.uuid} does not begin when the item was enqueued`];
  });
}

/** Directories of builds that ended. */
async function leftovers(jobs: string): Promise<readonly string[]> {
  const names = await readdir(jobs);
  return names
    .filter(name => !name.startsWith('.'))
    .map(name => `the directory of build ${name} is left over`);
}
