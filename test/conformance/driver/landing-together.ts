/** What a host does that lands several changes in one go (`Landing.landInOrder`): for the drivers that have it. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ParseResult } from '../../../src/driver/parse-result.ts';
import type { ChangeKey } from '../../../src/model/change.ts';
import type { Json } from '../../../src/model/job.ts';
import type { CodeHost } from './code-host.ts';
import { createGate, type Gate, type Tested } from './gate.ts';

export function describeLandingTogether(name: string, open: () => Promise<CodeHost>): void {
  describe(`driver ${name} lands several at once, each tested on the one before it,`, () => {
    let host: CodeHost;
    let gate: Gate;
    let merge: Json;
    beforeEach(async () => {
      host = await open();
      gate = createGate(host);
      await gate.settle();
      merge = parsed(host.config.parseReporter(host.language.reporters.merge));
    });
    afterEach(async () => {
      await host.connection.close();
      await host[Symbol.asyncDispose]();
    });

    const topics = ['a', 'b', 'c'];
    async function ready() {
      const keys: ChangeKey[] = [];
      for (const topic of topics) {
        keys.push((await host.propose({ topic })).key);
        await host.approve(topic);
      }
      await gate.settle();
      return { keys, tested: await gate.mergeInOrder(...keys) };
    }
    const branches = (tested: readonly Tested[]) =>
      tested.map(({ commit, tree }) => ({
        kind: 'landed',
        landed: [{ project: host.projects[0], branch: host.branch, commit, tree }],
      }));
    const openTopics = async () => {
      const open = await Promise.all(topics.map(topic => host.isOpen(topic)));
      return topics.filter((_, index) => open[index]);
    };

    test('P4: with an answer for each, in order, and again with the same answers', async () => {
      const { keys, tested } = await ready();
      const outcomes = await gate.landInOrder(keys, merge, tested);
      expect(outcomes).toMatchObject(branches(tested));
      expect(await host.tip(host.projects[0])).toBe(tested[2]?.commit);
      expect(await openTopics()).toEqual([]);
      expect(await gate.landInOrder(keys, merge, tested)).toMatchObject(branches(tested));
      await gate.settle();
      expect(keys.map(key => gate.record(key).status)).toEqual(['merged', 'merged', 'merged']);
    });

    test('none when the branch has moved', async () => {
      const { keys, tested } = await ready();
      const tip = await host.push({ 'past.txt': 'past the gate\n' });
      const outcomes = await gate.landInOrder(keys, merge, tested);
      expect(outcomes.map(({ kind }) => kind)).toEqual(['base-moved']);
      expect(await host.tip(host.projects[0])).toBe(tip);
      expect(await openTopics()).toEqual(topics);
    });

    test('up to one that has a new commit', async () => {
      const { keys, tested } = await ready();
      await host.amend('b', { 'b.txt': 'another\n' });
      const outcomes = await gate.landInOrder(keys, merge, tested);
      expect(outcomes.map(({ kind }) => kind)).toEqual(['landed', 'refused']);
      expect(await host.tip(host.projects[0])).toBe(tested[0]?.commit);
      expect(await openTopics()).toEqual(['b', 'c']);
    });

    test('the rest, when some have landed before', async () => {
      const { keys, tested } = await ready();
      await gate.land(keys[0] ?? expect.unreachable(), merge, tested[0]);
      const outcomes = await gate.landInOrder(keys, merge, tested);
      expect(outcomes).toMatchObject(branches(tested));
      expect(await host.tip(host.projects[0])).toBe(tested[2]?.commit);
    });
  });
}

function parsed(result: ParseResult<Json>): Json {
  if (result.kind === 'invalid') throw new Error(JSON.stringify(result.problems));
  return result.value;
}
