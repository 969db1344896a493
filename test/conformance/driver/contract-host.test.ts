/** The fake host of the contract: a host that merges by itself, is behind its own writes, limits, and loses answers. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { BranchSelection } from '../../../src/driver/source.ts';
import { addMilliseconds, systemClock } from '../../../src/lib/clock.ts';
import { projectIdOf } from '../../../src/model/project.ts';
import { HostError } from '../../fake/contract-host/faults.ts';
import { sampleReport } from '../../fake/report.ts';
import { type ContractCodeHost, openContractHost } from './contract-host.ts';
import { createGate, type Gate } from './gate.ts';
import { describeDriver } from './suite.ts';

describeDriver('contract, whose host merges', () => openContractHost('merge'));
describeDriver('contract, whose host squashes', () => openContractHost('squash'));

describe('a host that makes its own commits', () => {
  const MERGE = { merge: 'merge', note: false };
  let code: ContractCodeHost;
  let gate: Gate;
  beforeEach(async () => {
    code = await openContractHost('merge');
    gate = createGate(code);
    await gate.settle();
  });
  afterEach(() => code[Symbol.asyncDispose]());

  const merges = () => code.host.calls.filter(call => call.startsWith('merge ')).length;

  test('P4: lands a change that was tested on our merge of the one ahead, which it never had', async () => {
    const [a, b] = [await code.propose({ topic: 'a' }), await code.propose({ topic: 'b' })];
    await gate.settle();
    const first = await gate.merge(a.key);
    const both = await gate.merge(a.key, b.key);
    const second = { ...both, before: first.commit, beforeTree: first.tree };
    await gate.land(a.key, MERGE, first);
    expect(await code.tip(code.projects[0])).not.toBe(first.commit);
    expect(await gate.land(b.key, MERGE, second)).toMatchObject({
      kind: 'landed',
      landed: [{ tree: both.tree }],
    });
  });

  test('P4: names the tree as it is when another push comes first at the worst moment', async () => {
    const { key } = await code.propose({ topic: 'a' });
    await gate.settle();
    const tested = await gate.merge(key);
    code.host.faults.beforeMerge = async () => void (await code.push({ 'fast.txt': 'er\n' }));
    const outcome = await gate.land(key, MERGE, tested);
    const tip = await code.tip(code.projects[0]);
    expect(outcome).toMatchObject({
      kind: 'landed',
      landed: [{ commit: tip, tree: await code.tree(tip) }],
    });
    expect(await code.tree(tip)).not.toBe(tested.tree);
  });

  test('P5: whose answer to a merge is lost is asked what became of it, and merges once', async () => {
    const { key } = await code.propose({ topic: 'a' });
    await gate.settle();
    const tested = await gate.merge(key);
    code.host.faults.loseReply();
    await expect(gate.land(key, MERGE, tested)).rejects.toMatchObject({ unsettled: true, retryable: true });
    expect(await gate.land(key, MERGE, tested)).toMatchObject({
      kind: 'landed',
      landed: [{ commit: await code.tip(code.projects[0]) }],
    });
    expect(merges()).toBe(1);
  });

  test('P3: that names the end of its limit is asked again after that', async () => {
    const { key } = await code.propose({ topic: 'a' });
    await gate.settle();
    const tested = await gate.merge(key);
    const until = addMilliseconds(systemClock().now(), 90_000);
    code.host.faults.fail('merge', () => new HostError(429, 'too many requests', until), 1);
    expect(await gate.land(key, MERGE, tested)).toMatchObject({ kind: 'later', notBefore: until });
    expect(await gate.land(key, MERGE, tested)).toMatchObject({ kind: 'landed' });
  });

  test('P3: that serves stale reads after its own writes is not believed: no change and no base is lost by it', async () => {
    code.host.faults.lag = 2;
    const [a, b] = [await code.propose({ topic: 'a' }), await code.propose({ topic: 'b' })];
    const [delivered] = (await code.deliveries()).slice(-1);
    if (delivered === undefined) expect.unreachable('no delivery for a proposal');
    const context = {
      projects: new Set(code.projects),
      memory: gate.memory,
      record: () => undefined,
      signal: AbortSignal.timeout(5000),
    };
    const read = () => code.connection.source.process(gate.eventOf(delivered), context);
    expect(await read()).toMatchObject({ later: { text: expect.stringContaining('before its own last') } });
    expect(await read()).toMatchObject({ later: {} });
    await gate.take([delivered]);
    expect(gate.records().map(({ change }) => change.key)).toEqual([a.key, b.key]);

    const first = await gate.merge(a.key);
    const both = await gate.merge(a.key, b.key);
    const second = { ...both, before: first.commit, beforeTree: first.tree };
    await gate.land(a.key, MERGE, first);
    expect((await gate.land(b.key, MERGE, second)).kind).toBe('later');
    expect((await gate.land(b.key, MERGE, second)).kind).toBe('later');
    expect((await gate.land(b.key, MERGE, second)).kind).toBe('landed');
  });

  test('takes a report as data, once: place, changes, each job with its facts, comments on lines', async () => {
    const { key } = await code.propose({ topic: 'a' });
    await gate.settle();
    const { change } = gate.record(key);
    const [startedAt, endedAt] = [systemClock().now(), addMilliseconds(systemClock().now(), 4_000)];
    const report = sampleReport({
      action: 'failure',
      result: 'FAILURE',
      changes: [change],
      place: { tenant: 'acme', pipeline: 'gate', queue: { name: 'integrated', entryPosition: 2 } },
      jobs: [
        { name: 'unit', result: 'FAILURE', voting: true, url: 'http://gate/b/1', startedAt, endedAt },
        { name: 'docs', result: null, voting: false, url: null, startedAt: null, endedAt: null },
      ],
      fileComments: [
        {
          project: change.project,
          branch: 'main',
          file: 'zuul.yaml',
          line: 4,
          severity: 'error',
          text: 'unknown key "tiemout"',
        },
      ],
    });
    for (const text of [report.text, 'the same, worded anew'])
      expect(await gate.report(key, { note: true }, { ...report, text })).toMatchObject({ kind: 'done' });
    const [project] = code.projects;
    expect(code.host.reports(projectIdOf(project).name, 'main/a')).toEqual([report]);
  });

  test('has branches that are protected or locked, and says when that changes', async () => {
    const [project] = code.projects;
    const { name } = projectIdOf(project);
    await code.host.setRules(name, code.branch, { protected: true, locked: false });
    const { events } = await gate.settle();
    expect(events.map(({ type, branchesChanged }) => [type, branchesChanged])).toEqual([
      ['branch-rules-changed', true],
    ]);
    const names = async (selection?: BranchSelection) =>
      (await code.connection.source.branches(project, AbortSignal.timeout(5000), selection)).map(
        ({ branch }) => branch,
      );
    expect(await names({ excludeUnprotected: true })).toEqual([code.branch]);
    await code.host.setRules(name, code.branch, { protected: false, locked: true });
    expect((await gate.settle()).events).toHaveLength(1);
    expect(await names({ excludeUnprotected: true })).toEqual([]);
    expect(await names({ excludeLocked: true })).toEqual([]);
    expect(await names()).toEqual([code.branch]);
  });

  test('has votes with dates, which a requirement looks at with the time of the turn', async () => {
    const { key } = await code.propose({ topic: 'a' });
    await code.approve('a');
    await gate.settle();
    const [vote] = (await code.host.proposal(projectIdOf(code.projects[0]).name, 'main/a')).votes;
    const at = vote?.at ?? expect.unreachable('no vote');
    const met = (seconds: number) =>
      code.config.meets({ 'newer-than': 60 }, gate.record(key), addMilliseconds(at, seconds * 1000)).met;
    expect([met(59), met(61)]).toEqual([true, false]);
  });
});

test('two hosts are two connections: what happens at one is no event of the other', async () => {
  await using one = await openContractHost('merge');
  await using other = await openContractHost('squash');
  const gates = [createGate(one), createGate(other)];
  for (const gate of gates) await gate.settle();
  await one.propose({ topic: 'a' });
  expect((await gates[0]?.settle())?.events).toHaveLength(1);
  expect((await gates[1]?.settle())?.events).toEqual([]);
});
