/** Results of the demo's changes, from the service's history and the repositories, and the differences from the expected ones. */

import type { FinishedItem } from '../../api/live-item.ts';
import type { Explanation } from '../../explain/explain.ts';
import type { Api } from '../client/api.ts';
import { DEMO_CHANGES, type DemoChange } from './demo-changes.ts';
import { TENANT } from './demo-files.ts';
import type { DemoHost, DemoProposals } from './demo-host.ts';
import { git } from './developer.ts';
import { isAbout } from './shown-item.ts';

/**
 * How the gate ended for one change. Most fields go into the file of `--json` under these names. Those in `_ns` are decimal
 * nanoseconds: `enqueued_ns` and `dequeued_ns` since the epoch, `lost_ns` a duration.
 */
export interface ChangeOutcome {
  readonly project: string;
  /** As the host names it: `master/<topic>`, or a number. */
  readonly change: string;
  readonly commit: string;
  readonly subject: string;
  readonly result: string;
  /** Whether `master` holds the commit, as the repository has it: not what the service reports. */
  readonly merged: boolean;
  readonly resets: readonly {
    readonly cause: string;
    readonly culprit: string | null;
    readonly text: string;
    readonly lost_ns: string;
  }[];
  /** Uuid of the item. */
  readonly trace_id: string;
  readonly enqueued_ns: string;
  readonly dequeued_ns: string;
  /** Milliseconds in states of work, and in states of waiting. */
  readonly running_ms: number;
  readonly waiting_ms: number;
  readonly expected: DemoChange['expected'];
}

/** @throws Error when a change has not left the gate. */
export async function gateOutcomes(
  api: Api,
  { repositories, update }: DemoHost,
  proposals: DemoProposals,
): Promise<readonly ChangeOutcome[]> {
  const finished = await api.get<readonly FinishedItem[]>(`/api/tenant/${TENANT}/items?limit=100`);
  await update?.();
  return Promise.all(
    DEMO_CHANGES.map(async change => {
      const { change: id = '', commit = '' } = proposals.get(change.topic) ?? {};
      const item = finished.find(each => each.pipeline === 'gate' && isAbout(each, change.project, id));
      if (item === undefined) throw new Error(`${change.project} ${id} did not leave the gate`);
      const explanation = await api.get<Explanation>(`/api/tenant/${TENANT}/item/${item.uuid}/explain`);
      return {
        project: change.project,
        change: id,
        commit,
        subject: change.subject,
        result: item.result ?? 'UNKNOWN',
        merged: await isIn(repositories.get(change.project) ?? '', commit),
        resets: explanation.resets.map(reset => ({
          cause: reset.code,
          culprit: reset.culprit?.change ?? null,
          text: reset.text,
          lost_ns: reset.lostBuildTime,
        })),
        trace_id: item.uuid,
        enqueued_ns: explanation.enqueuedAt,
        dequeued_ns: explanation.until,
        running_ms: milliseconds(explanation, 'work'),
        waiting_ms: milliseconds(explanation, 'wait'),
        expected: change.expected,
      };
    }),
  );
}

function milliseconds(explanation: Explanation, kind: 'work' | 'wait'): number {
  const total = explanation.totals
    .filter(each => each.kind === kind)
    .reduce((sum, each) => sum + BigInt(each.duration), 0n);
  return Number(total / 1000n) / 1000;
}

async function isIn(repository: string, commit: string): Promise<boolean> {
  const branches = await git(
    repository,
    'branch',
    '--list',
    '--contains',
    commit,
    '--format=%(refname:short)',
    'master',
  );
  return branches === 'master';
}

const RESULTS: { readonly [expected in DemoChange['expected']]: string } = {
  merged: 'SUCCESS',
  failed: 'FAILURE',
  conflict: 'MERGE_CONFLICT',
};

/** Differences from the expected results, one line each. */
export function surprises(outcomes: readonly ChangeOutcome[]): readonly string[] {
  const wrong = outcomes.flatMap(outcome => {
    const name = `${outcome.project} ${outcome.change}`;
    const result =
      outcome.result === RESULTS[outcome.expected]
        ? []
        : [`${name} ended with ${outcome.result}, expected ${RESULTS[outcome.expected]}`];
    const landed =
      outcome.merged === (outcome.expected === 'merged')
        ? []
        : [`${name} is ${outcome.merged ? '' : 'not '}in master`];
    return [...result, ...landed];
  });
  const victims = outcomes.filter(outcome => outcome.resets.length > 0);
  const unexplained = victims.flatMap(outcome =>
    outcome.resets
      .filter(reset => reset.culprit === null && reset.cause !== 'base-moved')
      .map(() => `${outcome.project} ${outcome.change} was tested again without a known culprit`),
  );
  const culprit = outcomes.find(outcome => outcome.expected === 'failed');
  const named = victims.some(outcome =>
    outcome.resets.some(reset => culprit !== undefined && reset.culprit?.includes(culprit.change) === true),
  );
  return [...wrong, ...unexplained, ...(named ? [] : ['no reset names the change that failed'])];
}
