/**
 * What every driver does: actions of people at the code host, and what the gate then knows. A driver runs it with
 * `describeDriver('github', openGithub)` and adds tests of its own for what only its host has.
 */
import { afterEach, beforeAll, beforeEach, describe, test as everyTest, expect } from 'vitest';
import type { ParseResult } from '../../../src/driver/parse-result.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import type { TriggerEvent } from '../../../src/model/event.ts';
import type { Json } from '../../../src/model/job.ts';
import type { LandedBranch } from '../../../src/model/landed.ts';
import { parseCommitId } from '../../../src/model/project.ts';
import type { CodeHost } from './code-host.ts';
import { createGate, type Gate, type Tested } from './gate.ts';

const TAKER = { tenant: 'acme', pipeline: 'taker' };

/** @param part names of the cases that are run; absent: all of them. */
export function describeDriver(
  name: string,
  open: () => Promise<CodeHost>,
  part: readonly string[] | undefined = undefined,
): void {
  const taken = new Set<string>();
  const test = (title: string, body: () => Promise<void> | void) => {
    if (part !== undefined && !part.includes(title)) return;
    taken.add(title);
    everyTest(title, body);
  };
  describe(`driver ${name}`, () => {
    let host: CodeHost;
    let gate: Gate;
    beforeAll(() => expect(part?.filter(title => !taken.has(title)) ?? [], 'cases of the suite').toEqual([]));
    beforeEach(async () => {
      host = await open();
      gate = createGate(host);
      // The first read: there are only branches.
      await gate.settle();
    });
    afterEach(async () => {
      await host.connection.close();
      await host[Symbol.asyncDispose]();
    });

    const { signal } = new AbortController();
    const parsed = (result: ParseResult<Json>): Json => {
      if (result.kind === 'invalid') throw new Error(JSON.stringify(result.problems));
      return result.value;
    };
    const trigger = (kind: keyof CodeHost['language']['triggers']) =>
      parsed(host.config.parseTrigger(host.language.triggers[kind]));
    const requirement = (kind: keyof CodeHost['language']['requirements']) =>
      parsed(host.config.parseRequirement(host.language.requirements[kind]));
    const reporter = (kind: keyof CodeHost['language']['reporters']) =>
      parsed(host.config.parseReporter(host.language.reporters[kind]));
    const matches = (kind: keyof CodeHost['language']['triggers'], event: TriggerEvent) => {
      const record = gate.records().find(each => each.change.key === event.change.key);
      return host.config.matches(trigger(kind), event, record, TAKER).met;
    };
    const those = (events: readonly TriggerEvent[], kind: keyof CodeHost['language']['triggers']) =>
      events.filter(event => matches(kind, event)).map(({ change }) => change.key);
    const meets = (key: Parameters<Gate['record']>[0], kind: keyof CodeHost['language']['requirements']) =>
      host.config.meets(requirement(kind), gate.record(key), systemClock().now()).met;

    /** What the branch of the first project holds now. */
    const held = async (): Promise<LandedBranch> => {
      const [project] = host.projects;
      const commit = await host.tip(project);
      return { project, branch: host.branch, commit: parseCommitId(commit), tree: await host.tree(commit) };
    };
    /** `push` lands the very commit, `api` the same tree. */
    const landedAs = ({ commit, tree }: Tested) => (host.lands === 'push' ? { commit, tree } : { tree });

    describe('reports', () => {
      test('of a proposal, with all a pipeline needs to know', async () => {
        const login = await host.propose({ topic: 'login', message: 'Let people log in\n\nAt last.\n' });
        const { events } = await gate.settle();
        expect(those(events, 'proposed')).toEqual([login.key]);
        expect(those(events, 'approved')).toEqual([]);
        expect(gate.record(login.key)).toMatchObject({
          status: 'open',
          dependsOn: [],
          unresolvedDependencies: [],
        });
        expect(gate.proposal(login.key)).toMatchObject({
          kind: 'change',
          project: host.projects[0],
          branch: host.branch,
          commit: login.commit,
          subject: 'Let people log in',
        });
        expect(meets(login.key, 'open')).toBe(true);
        expect(meets(login.key, 'approved')).toBe(false);
      });

      test('of a new revision, which the old approval does not cover', async () => {
        await host.propose({ topic: 'login' });
        await host.approve('login');
        await gate.settle();
        const second = await host.amend('login', { 'login.txt': 'second try\n' });
        const { events } = await gate.settle();
        expect(those(events, 'proposed')).toEqual([second.key]);
        expect(those(events, 'approved')).toEqual([]);
        expect(gate.proposal(second.key).commit).toBe(second.commit);
        expect(meets(second.key, 'approved')).toBe(false);
      });

      test('of an approval', async () => {
        const login = await host.propose({ topic: 'login' });
        await gate.settle();
        await host.approve('login');
        const { events, refusals } = await gate.settle();
        expect(those(events, 'approved')).toEqual([login.key]);
        expect(those(events, 'proposed')).toEqual([]);
        expect(refusals).toEqual([]);
        expect(meets(login.key, 'approved')).toBe(true);
      });

      test('of a proposal before its approval when both are new', async () => {
        await host.propose({ topic: 'login' });
        await host.approve('login');
        const { events } = await gate.settle();
        const order = events.flatMap(event =>
          (['proposed', 'approved'] as const).filter(kind => those([event], kind).length > 0),
        );
        expect(order).toEqual(['proposed', 'approved']);
      });

      test('of a withdrawn approval without an event', async () => {
        const login = await host.propose({ topic: 'login' });
        await host.approve('login');
        await gate.settle();
        await host.withdrawApproval('login');
        const { events, updated } = await gate.settle();
        expect(those(events, 'approved')).toEqual([]);
        expect([...updated, ...events.map(({ change }) => change.key)]).toContain(login.key);
        expect(meets(login.key, 'approved')).toBe(false);
        expect(meets(login.key, 'open')).toBe(true);
      });

      test('of an abandoned proposal', async () => {
        const login = await host.propose({ topic: 'login', message: 'Let people log in\n' });
        await gate.settle();
        await host.abandon('login');
        const { events } = await gate.settle();
        expect(those(events, 'abandoned')).toEqual([login.key]);
        expect(gate.record(login.key).status).toBe('abandoned');
        expect(gate.proposal(login.key)).toMatchObject({
          commit: login.commit,
          subject: 'Let people log in',
        });
        expect(meets(login.key, 'open')).toBe(false);
      });

      test('a push to a branch, and that its configuration may be different', async () => {
        const commit = await host.push({ 'README.md': 'new\n' });
        const { events } = await gate.settle();
        const [moved, ...more] = events.filter(event => matches('branchMoved', event));
        expect(more).toEqual([]);
        expect(moved).toMatchObject({
          project: host.projects[0],
          branch: host.branch,
          configMayHaveChanged: [host.branch],
        });
        expect(moved?.change).toMatchObject({ kind: 'ref', newCommit: commit });
        expect(those(events, 'proposed')).toEqual([]);
      });

      test('nothing twice', async () => {
        await host.propose({ topic: 'login' });
        await gate.settle();
        expect((await gate.settle()).events).toEqual([]);
      });
    });

    describe('has the properties of a code host:', () => {
      test('P1: what a lost delivery was about is found with the next one', async () => {
        const login = await host.propose({ topic: 'login' });
        await host.deliveries();
        await host.approve('login');
        const { events } = await gate.settle();
        expect(those(events, 'proposed')).toEqual([login.key]);
        expect(those(events, 'approved')).toEqual([login.key]);
      });

      test('P1: a delivery that comes again under another id is no second event', async () => {
        await host.propose({ topic: 'login' });
        const deliveries = await host.deliveries();
        expect(await gate.take(deliveries)).not.toEqual([]);
        const again = deliveries.map(each => ({ ...each, deliveryId: `${each.deliveryId}-again` }));
        expect(await gate.take(again)).toEqual([]);
      });

      test('P1: deliveries that are swapped end in the same state, each event once', async () => {
        const login = await host.propose({ topic: 'login' });
        const first = await host.deliveries();
        await host.approve('login');
        const events = [...(await gate.take(await host.deliveries())), ...(await gate.take(first))];
        expect(those(events, 'proposed')).toEqual([login.key]);
        expect(those(events, 'approved')).toEqual([login.key]);
        expect(meets(login.key, 'approved')).toBe(true);
      });

      test('P2: two projects are two lanes', async () => {
        await host.propose({ topic: 'app' });
        await host.propose({ topic: 'lib', project: host.projects[1] });
        const { source } = host.connection;
        const lanes = (await host.deliveries()).map(each => source.lane?.(gate.eventOf(each)));
        expect(new Set(lanes)).toHaveLength(2);
      });

      test('P3: a host that is away is no verdict: its events and landings are for later', async () => {
        const login = await host.propose({ topic: 'login' });
        await gate.settle();
        const tested = await gate.merge(login.key);
        await host.approve('login');
        const deliveries = await host.deliveries();
        await host.ail();
        const context = {
          projects: new Set(host.projects),
          memory: gate.memory,
          record: () => undefined,
          signal,
        };
        for (const each of deliveries.filter(({ payload }) => JSON.stringify(payload).includes('acme/app')))
          expect(await host.connection.source.process(gate.eventOf(each), context)).toMatchObject({
            later: { reason: expect.any(String), text: expect.any(String) },
          });
        const outcome = await gate.land(login.key, reporter('merge'), tested).catch(error => error);
        expect(outcome.kind === 'later' || outcome.retryable === true).toBe(true);
        await host.heal();
        expect(those(await gate.take(deliveries), 'approved')).toEqual([login.key]);
        expect(await gate.land(login.key, reporter('merge'), tested)).toMatchObject({ kind: 'landed' });
      });

      test('P5: a process that may not act any more changes nothing', async () => {
        const login = await host.propose({ topic: 'login' });
        await gate.settle();
        const tested = await gate.merge(login.key);
        await expect(gate.land(login.key, reporter('merge'), tested, () => false)).rejects.toThrow();
        expect(await host.tip(host.projects[0])).toBe(tested.before);
        expect(await host.isOpen('login')).toBe(true);
      });
    });

    describe('is repeatable:', () => {
      test('the same event processed again gives the same events, ids included', async () => {
        const login = await host.propose({ topic: 'login' });
        const [delivered] = await host.deliveries();
        if (delivered === undefined) throw new Error('no delivery for a proposal');
        const event = gate.eventOf(delivered);
        const [first, second] = [await gate.peek(event), await gate.peek(event)];
        expect(second.events).toEqual(first.events);
        expect(new Set(first.events.map(({ uuid }) => uuid)).size).toBe(first.events.length);
        expect(first.events.map(({ change }) => change.key)).toContain(login.key);
        expect(second.memory).toEqual(first.memory);
      });

      test('a change can be asked for at any time', async () => {
        const login = await host.propose({ topic: 'login' });
        await host.approve('login');
        await gate.settle();
        const { signal } = new AbortController();
        const { fetchedAt, ...asked } =
          (await host.connection.source.fetchChange(login.key, signal)) ?? expect.unreachable();
        const { fetchedAt: before, ...known } = gate.record(login.key);
        expect(asked).toEqual(known);
        expect([typeof fetchedAt, typeof before]).toEqual(['string', 'string']);
      });

      test('open changes of a project are listed where events do not name all of them', async () => {
        const [first, second] = host.projects;
        const login = await host.propose({ topic: 'login' });
        await host.propose({ topic: 'gone' });
        await host.propose({ topic: 'lib', project: second });
        await host.abandon('gone');
        await gate.settle();
        const listed = await host.connection.source.openChanges?.(first, 5, new AbortController().signal);
        if (host.connection.driver === 'git') expect(listed).toBeUndefined();
        else expect(listed).toEqual({ changes: [login.key], isMore: false });
      });

      test('the merge message is a function of the change', async () => {
        const login = await host.propose({ topic: 'login', message: 'Let people log in\n' });
        await gate.settle();
        const { mergeMessage } = host.connection.source;
        const text = mergeMessage(gate.proposal(login.key));
        expect(text).toContain('Let people log in');
        expect(mergeMessage(structuredClone(gate.proposal(login.key)))).toBe(text);
      });
    });

    describe('knows dependencies:', () => {
      test('a proposal built on another one needs it where the host says so, and only the nearest', async () => {
        const a = await host.propose({ topic: 'a' });
        const b = await host.propose({ topic: 'b', on: 'a' });
        const c = await host.propose({ topic: 'c', on: 'b' });
        await gate.settle();
        expect(gate.record(a.key).dependsOn).toEqual([]);
        expect(gate.record(b.key).dependsOn).toEqual(host.stacks ? [a.key] : []);
        expect(gate.record(c.key).dependsOn).toEqual(host.stacks ? [b.key] : []);
      });

      test('a line of the message names a proposal of another project', async () => {
        const lib = await host.propose({ topic: 'lib', project: host.projects[1] });
        const line = host.dependsOn('lib', host.projects[1]);
        const app = await host.propose({ topic: 'app', message: `Use it\n\n${line}\n` });
        await gate.settle();
        expect(gate.record(app.key)).toMatchObject({ dependsOn: [lib.key], unresolvedDependencies: [] });
        const { changeOfUrl } = host.connection.source;
        const value = line.slice(line.indexOf(' ') + 1);
        expect(await changeOfUrl(value, new Set(host.projects), signal)).toBe(lib.key);
        // A change of a project that no tenant has is none.
        expect(await changeOfUrl(value, new Set([host.projects[0]]), signal)).toBeUndefined();
      });

      test('a line that names nothing is kept as written', async () => {
        const app = await host.propose({
          topic: 'app',
          message: 'Use it\n\nDepends-On: the thing Bob does\n',
        });
        await gate.settle();
        expect(gate.record(app.key)).toMatchObject({
          dependsOn: [],
          unresolvedDependencies: ['the thing Bob does'],
        });
      });
    });

    describe('merges:', () => {
      test('P4: what was tested, and names what the branch holds now; the proposal is gone', async () => {
        const login = await host.propose({ topic: 'login' });
        await host.approve('login');
        await gate.settle();
        const tested = await gate.merge(login.key);
        const outcome = await gate.land(login.key, reporter('merge'), tested);
        expect({ ...outcome, steps: [] }).toEqual({ kind: 'landed', landed: [await held()], steps: [] });
        expect(await held()).toMatchObject(landedAs(tested));
        expect(await host.isOpen('login')).toBe(false);
        const { events } = await gate.settle();
        expect(those(events, 'branchMoved')).toHaveLength(1);
        expect(those(events, 'abandoned')).toEqual([]);
        expect(gate.record(login.key).status).toBe('merged');
      });

      test('P5: once, however often it is asked', async () => {
        const login = await host.propose({ topic: 'login' });
        await gate.settle();
        const tested = await gate.merge(login.key);
        const first = await gate.land(login.key, reporter('merge'), tested);
        await host.push({ 'later.txt': 'another push\n' });
        const tip = await host.tip(host.projects[0]);
        const again = await gate.land(login.key, reporter('merge'), tested);
        expect({ ...again, steps: [] }).toEqual({ ...first, steps: [] });
        expect(await host.tip(host.projects[0])).toBe(tip);
      });

      test('P5: and says whether it has, without doing anything', async () => {
        const login = await host.propose({ topic: 'login' });
        await gate.settle();
        const tested = await gate.merge(login.key);
        expect(await gate.landed(login.key, reporter('merge'), tested)).toEqual([]);
        expect(await host.tip(host.projects[0])).toBe(tested.before);
        await gate.land(login.key, reporter('merge'), tested);
        const now = await held();
        await host.push({ 'later.txt': 'another push\n' });
        expect(await gate.landed(login.key, reporter('merge'), tested)).toEqual([now]);
      });

      test('not when the branch has moved', async () => {
        const login = await host.propose({ topic: 'login' });
        await gate.settle();
        const tested = await gate.merge(login.key);
        const tip = await host.push({ 'README.md': 'another push\n' });
        expect(await gate.land(login.key, reporter('merge'), tested)).toMatchObject({
          kind: 'base-moved',
        });
        expect(await host.tip(host.projects[0])).toBe(tip);
        expect(await host.isOpen('login')).toBe(true);
      });

      test('not when the proposal is not what was tested', async () => {
        const login = await host.propose({ topic: 'login' });
        await gate.settle();
        const tested = await gate.merge(login.key);
        await host.amend('login', { 'login.txt': 'second try\n' });
        const outcome = await gate.land(login.key, reporter('merge'), tested);
        expect(outcome).toMatchObject({ kind: 'refused' });
        expect(await host.tip(host.projects[0])).toBe(tested.before);
        expect(await host.isOpen('login')).toBe(true);
      });

      test('not what was abandoned meanwhile', async () => {
        const login = await host.propose({ topic: 'login' });
        await gate.settle();
        const tested = await gate.merge(login.key);
        await host.abandon('login');
        expect(await gate.land(login.key, reporter('merge'), tested)).toMatchObject({
          kind: 'refused',
        });
        expect(await host.tip(host.projects[0])).toBe(tested.before);
      });

      test('not against the rules of the host, whose words it passes on', async () => {
        const login = await host.propose({ topic: 'login' });
        await gate.settle();
        const tested = await gate.merge(login.key);
        await host.refuseMerges('the branch is frozen until Monday');
        const outcome = await gate.land(login.key, reporter('merge'), tested);
        expect(outcome).toMatchObject({
          kind: 'refused',
          text: expect.stringContaining('frozen until Monday'),
        });
        expect(await host.tip(host.projects[0])).toBe(tested.before);
        expect(await host.isOpen('login')).toBe(true);
      });

      test('two that were made together, one after the other', async () => {
        const a = await host.propose({ topic: 'a' });
        const b = await host.propose({ topic: 'b', on: 'a' });
        await gate.settle();
        const first = await gate.merge(a.key);
        const both = await gate.merge(a.key, b.key);
        expect(await gate.land(a.key, reporter('merge'), first)).toMatchObject({ kind: 'landed' });
        const second = { ...both, before: first.commit, beforeTree: first.tree };
        expect(await gate.land(b.key, reporter('merge'), second)).toMatchObject({ kind: 'landed' });
        expect(await held()).toMatchObject(landedAs(both));
        await gate.settle();
        expect([gate.record(a.key).status, gate.record(b.key).status]).toEqual(['merged', 'merged']);
      });
    });

    describe('remarks:', () => {
      test('a result where people find it, once', async () => {
        const login = await host.propose({ topic: 'login' });
        await gate.settle();
        const about = {
          action: 'failure',
          result: 'FAILURE',
          headline: 'Build failed (check).',
          text: 'Build failed (check).\n\n- unit : FAILURE in 4s',
        } as const;
        expect(await gate.report(login.key, reporter('remark'), about)).toMatchObject({ kind: 'done' });
        await gate.report(login.key, reporter('remark'), about);
        expect((await host.remarks(login)).match(/Build failed/g)).toHaveLength(1);
      });
    });

    describe('reads its configuration:', () => {
      test('what its parsers return they take back', () => {
        for (const kind of ['proposed', 'approved', 'abandoned', 'branchMoved'] as const) {
          expect(parsed(host.config.parseTrigger(trigger(kind)))).toEqual(trigger(kind));
        }
        expect(host.config.landingMode(reporter('merge'))).toBe(host.lands);
        expect(host.config.landingMode(reporter('remark'))).toBeNull();
      });

      test('and says where a mistake is', () => {
        const { trigger, requirement, reporter } = host.language.mistakes;
        for (const [result, path] of [
          [host.config.parseTrigger(trigger[0]), trigger[1]],
          [host.config.parseRequirement(requirement[0]), requirement[1]],
          [host.config.parseReporter(reporter[0]), reporter[1]],
        ] as const) {
          expect(result.kind === 'invalid' && result.problems.map(problem => problem.path)).toContainEqual(
            path,
          );
        }
      });
    });

    describe('takes names as bytes without meaning:', () => {
      for (const written of [
        '$(touch pwned)',
        "it's;rm -rf",
        '"quoted"',
        '-option',
        '--upload-pack=touch',
        'ünïcode-é',
        '%2e%2e',
        'a&b|c',
        '#1',
        'x@y',
      ])
        test(`a proposal called ${written}`, async () => {
          const topic = written.replaceAll(' ', '-');
          const odd = await host.propose({ topic });
          await host.approve(topic);
          const { events } = await gate.settle();
          expect(those(events, 'approved')).toEqual([odd.key]);
          const tested = await gate.merge(odd.key);
          expect(await gate.land(odd.key, reporter('merge'), tested)).toMatchObject({ kind: 'landed' });
          await gate.settle();
          expect(gate.record(odd.key).status).toBe('merged');
        });
    });
  });
}
