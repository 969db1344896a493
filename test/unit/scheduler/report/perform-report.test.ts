/** Landing several changes of one item: one after the other, and what it means when one of them does not land. */
import { describe, expect, test } from 'vitest';
import type { Connection } from '../../../../src/driver/connection.ts';
import type { LandingOutcome, LandingRequest } from '../../../../src/driver/landing.ts';
import { systemClock } from '../../../../src/lib/clock.ts';
import { derivedUuid } from '../../../../src/lib/ids.ts';
import type { ProposedChange } from '../../../../src/model/change.ts';
import { parseCommitId } from '../../../../src/model/project.ts';
import type { ReportIntent } from '../../../../src/model/report-intent.ts';
import { performReport } from '../../../../src/scheduler/report/perform-report.ts';
import { proposedChange } from '../../../fake/queue-item.ts';
import { NO_DETAILS } from '../../../fake/records.ts';
import { SILENT } from '../../../fake/silent-log.ts';

const A = proposedChange('master/a');
const B = proposedChange('master/b');
const commit = (digit: string) => parseCommitId(digit.repeat(40));
const TESTED = {
  project: A.project,
  branch: 'master',
  base: commit('1'),
  commit: commit('9'),
  tree: '9'.repeat(40),
  before: commit('1'),
  beforeTree: '1'.repeat(40),
};

function landed(digit: string): LandingOutcome {
  const branch = { project: A.project, branch: 'master', commit: commit(digit), tree: digit.repeat(40) };
  return { kind: 'landed', landed: [branch] };
}

async function land(...answers: readonly LandingOutcome[]) {
  const asked: LandingRequest[] = [];
  const connection = {
    name: 'local',
    landing: {
      async land(request: LandingRequest) {
        asked.push(request);
        return answers[asked.length - 1] ?? landed('9');
      },
    },
  } as unknown as Connection;
  const part = (change: ProposedChange) => ({
    ...{ connection: 'local', config: { merge: true }, merges: true, change, tested: TESTED },
  });
  const intent: ReportIntent = {
    uuid: derivedUuid('report', '1'),
    ...{ tenant: 'acme', pipeline: 'gate', item: derivedUuid('item', '1'), action: 'success', awaited: true },
    ...{ result: 'SUCCESS', requestedAt: systemClock().now(), message: '', url: '', details: NO_DETAILS },
    parts: [part(A), part(B)],
  };
  const performed = await performReport(
    intent,
    {
      clock: systemClock(),
      log: SILENT,
      connections: new Map([['local', connection]]),
      prove: async () => 'held',
      mayAct: () => true,
      isFirstTry: true,
      since: systemClock().now(),
    },
    AbortSignal.timeout(60_000),
  );
  return { ...performed, asked };
}

describe('several changes of one item', () => {
  test('land one after the other, each on what the one before it left', async () => {
    const { outcome, parts, asked } = await land(landed('5'), landed('9'));
    expect(outcome).toMatchObject({
      kind: 'done',
      landed: [{ tree: '5'.repeat(40) }, { tree: '9'.repeat(40) }],
    });
    expect(asked.map(({ tested }) => tested?.before)).toEqual([commit('1'), commit('5')]);
    expect(asked[1]?.tested?.beforeTree).toBe('5'.repeat(40));
    expect(parts.map(({ change }) => change)).toEqual([A.key, B.key]);
  });

  test('that land in part are reported as that', async () => {
    for (const kind of ['refused', 'base-moved'] as const) {
      const { outcome } = await land(landed('5'), { kind, text: 'a rule forbids it' });
      expect(outcome.kind).toBe('not-merged');
      expect('text' in outcome && outcome.text).toMatch(
        /master\/a\S* landed, .*master\/b\S* did not: a rule forbids it/,
      );
    }
  });

  test('of which none has landed are as they were', async () => {
    const { outcome } = await land({ kind: 'base-moved', text: 'somewhere else' });
    expect(outcome).toEqual({ kind: 'base-moved', text: 'somewhere else' });
  });

  test('wait for the host with what has landed in mind', async () => {
    const { outcome } = await land(landed('5'), { kind: 'later', reason: 'unreachable', text: 'no answer' });
    expect(outcome).toMatchObject({ kind: 'host', trouble: { unsettled: true } });
  });
});
