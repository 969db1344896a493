/** Landing several items at once: one call per run of a repository, and an answer for each. */
import { describe, expect, test } from 'vitest';
import type { Connection } from '../../../../src/driver/connection.ts';
import type { LandingOutcome, LandingRequest } from '../../../../src/driver/landing.ts';
import type { ReporterOutcome, ReportRequest } from '../../../../src/driver/reporter.ts';
import { systemClock } from '../../../../src/lib/clock.ts';
import { derivedUuid } from '../../../../src/lib/ids.ts';
import { changeText, type ProposedChange } from '../../../../src/model/change.ts';
import { parseCommitId, projectKey } from '../../../../src/model/project.ts';
import type { ReportIntent } from '../../../../src/model/report-intent.ts';
import { performTogether } from '../../../../src/scheduler/report/perform-together.ts';
import type { ProjectStanding } from '../../../../src/scheduler/report/right-to-act.ts';
import { proposedChange } from '../../../fake/queue-item.ts';
import { NO_DETAILS } from '../../../fake/records.ts';
import { SILENT } from '../../../fake/silent-log.ts';

const LIB = projectKey({ connection: 'local', name: 'acme/lib' });
const commit = (digit: string) => parseCommitId(digit.repeat(40));

function change(name: string, isLib = false): ProposedChange {
  const proposed = proposedChange(`master/${name}`);
  return isLib ? { ...proposed, project: LIB } : proposed;
}

/** An item with one change, or with several that belong together. */
function intentOf(...changes: readonly ProposedChange[]): ReportIntent {
  const name = changes.map(changeText).join();
  return {
    uuid: derivedUuid('report', name),
    ...{
      tenant: 'acme',
      pipeline: 'gate',
      item: derivedUuid('item', name),
      action: 'success',
      awaited: true,
    },
    together: derivedUuid('first'),
    ...{ result: 'SUCCESS', requestedAt: systemClock().now(), message: '', url: '', details: NO_DETAILS },
    parts: changes.map(each => ({
      ...{ connection: 'local', config: { merge: true }, merges: true, change: each },
      tested: {
        ...{ project: each.project, branch: 'master', base: commit('1'), before: commit('1') },
        ...{ beforeTree: '1'.repeat(40), commit: commit('9'), tree: '9'.repeat(40) },
      },
    })),
  };
}

const landed = ({ change: { project } }: LandingRequest): LandingOutcome => ({
  kind: 'landed',
  landed: [{ project, branch: 'master', commit: commit('9'), tree: '9'.repeat(40) }],
});

const nameOf = ({ change: { key } }: Pick<ReportRequest, 'change'>) => key.split('/').at(-1) ?? '';

interface Site {
  readonly answer?: (requests: readonly LandingRequest[], call: number) => readonly LandingOutcome[];
  readonly report?: (request: ReportRequest, signal: AbortSignal) => Promise<ReporterOutcome>;
  readonly standing?: () => ProjectStanding;
  readonly several?: false;
}

async function perform(intents: readonly ReportIntent[], site: Site = {}) {
  const calls: string[] = [];
  const proofs: number[] = [];
  const announced: string[] = [];
  const { answer = requests => requests.map(landed), report, standing = () => 'held' } = site;
  const land = (requests: readonly LandingRequest[]) => {
    calls.push(requests.map(nameOf).join(' '));
    return answer(requests, calls.length);
  };
  const landing = {
    land: async (request: LandingRequest) => land([request])[0],
    landed: async () => [],
    ...(site.several === false
      ? {}
      : { landInOrder: async (requests: readonly LandingRequest[]) => land(requests) }),
  };
  const reporter = {
    async report(request: ReportRequest, signal: AbortSignal) {
      const said = await (report?.(request, signal) ?? Promise.resolve({ kind: 'done' as const }));
      announced.push(nameOf(request));
      return said;
    },
  };
  const connection = { name: 'local', landing, reporter } as unknown as Connection;
  const performed = await performTogether(
    intents,
    {
      clock: systemClock(),
      log: SILENT,
      connections: new Map([['local', connection]]),
      async prove(changes) {
        proofs.push(changes.length);
        return standing();
      },
      mayAct: () => true,
      isFirstTry: true,
      since: systemClock().now(),
      inLane: (_, task) => task(),
    },
    AbortSignal.timeout(60_000),
  );
  return { calls, proofs, announced, kinds: performed.map(({ outcome }) => outcome.kind), performed };
}

const [A, B, C] = [change('a'), change('b'), change('c')];
const THREE = [intentOf(A), intentOf(B), intentOf(C)];

describe('items that land together', () => {
  test('are one call of their driver, and each has an answer and a landing of its own', async () => {
    const { calls, kinds, performed, announced } = await perform(THREE);
    expect(calls).toEqual(['a b c']);
    expect(kinds).toEqual(['done', 'done', 'done']);
    expect(performed.map(({ parts }) => parts.map(({ kind, outcome }) => `${kind} ${outcome}`))).toEqual([
      ['HostMerge done'],
      ['HostMerge done'],
      ['HostMerge done'],
    ]);
    expect(announced.toSorted()).toEqual(['a', 'b', 'c']);
  });

  test('of several repositories land in their order, a call for each run of one', async () => {
    const lib = change('l', true);
    const { calls, kinds } = await perform([intentOf(A), intentOf(B), intentOf(lib), intentOf(C)]);
    expect(calls).toEqual(['a b', 'l', 'c']);
    expect(kinds).toEqual(['done', 'done', 'done', 'done']);
  });

  test('of which one has several changes land all of them', async () => {
    const { calls, performed } = await perform([intentOf(A), intentOf(B, C)]);
    expect(calls).toEqual(['a b c']);
    expect(performed[1]).toMatchObject({ outcome: { kind: 'done', landed: [{}, {}] }, parts: [{}, {}] });
  });

  test('are asked for again where the driver answered for the first ones', async () => {
    const { calls, kinds } = await perform(THREE, {
      answer: ([first]) => (first === undefined ? [] : [landed(first)]),
    });
    expect(calls).toEqual(['a b c', 'b c', 'c']);
    expect(kinds).toEqual(['done', 'done', 'done']);
  });

  test('are not sent behind one that is refused, which is named', async () => {
    const { kinds, performed, announced } = await perform(THREE, {
      answer: ([first]) => (first === undefined ? [] : [landed(first), { kind: 'refused', text: 'a rule' }]),
    });
    expect(kinds).toEqual(['done', 'not-merged', 'withdrawn']);
    expect(performed[1]?.outcome).toMatchObject({ text: 'a rule' });
    expect(performed[2]?.parts).toEqual([]);
    expect(announced).toEqual(['a']);
  });

  test('do not land in the next repository when one did not in this', async () => {
    const lib = change('l', true);
    const { calls, kinds } = await perform([intentOf(A), intentOf(lib)], {
      answer: () => [{ kind: 'base-moved', text: 'elsewhere' }],
    });
    expect(calls).toEqual(['a']);
    expect(kinds).toEqual(['base-moved', 'withdrawn']);
  });

  test('all wait for the host when the answer to their push was lost, and are asked about together', async () => {
    const lost = Object.assign(new Error('no answer'), { fault: 'remote', retryable: true, unsettled: true });
    const throwing = () => {
      throw lost;
    };
    const { calls, kinds, performed } = await perform(THREE, { answer: throwing });
    expect(calls).toEqual(['a b c', 'a b c', 'a b c']);
    expect(kinds).toEqual(['host', 'host', 'host']);
    expect(performed[2]?.outcome).toMatchObject({ trouble: { unsettled: true } });
    expect(
      (await perform(THREE, { answer: (requests, call) => (call === 1 ? throwing() : requests.map(landed)) }))
        .kinds,
    ).toEqual(['done', 'done', 'done']);
  });

  test('wait behind the first when the host did not serve', async () => {
    const { kinds } = await perform(THREE, {
      answer() {
        throw Object.assign(new Error('away'), { fault: 'remote', retryable: true });
      },
    });
    expect(kinds).toEqual(['host', 'withdrawn', 'withdrawn']);
  });

  test('need one proof of the right to act, however many there are', async () => {
    expect((await perform(THREE)).proofs).toEqual([3, 3]);
    expect(
      (await perform([...THREE, ...['d', 'e', 'f'].map(name => intentOf(change(name)))])).proofs,
    ).toEqual([6, 6]);
  });

  test('land one by one when a project has left the tenant, or the host lands one at a time', async () => {
    expect(await perform(THREE, { several: false })).toMatchObject({
      calls: ['a', 'b', 'c'],
      kinds: ['done', 'done', 'done'],
    });
    const gone = await perform(THREE, { standing: () => 'removed' });
    expect(gone).toMatchObject({ calls: [], kinds: ['withdrawn', 'withdrawn', 'withdrawn'] });
  });

  test('do not wait for words that hang: these are left for later', async () => {
    const { kinds, performed } = await perform(THREE, {
      report: (request, signal) =>
        nameOf(request) === 'b'
          ? new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
          : Promise.resolve({ kind: 'done' }),
    });
    expect(kinds).toEqual(['done', 'done', 'done']);
    expect(performed.map(({ unsent }) => unsent?.map(({ merges }) => merges))).toEqual([
      undefined,
      [false],
      undefined,
    ]);
  });
});
