/** Gerrit is away, slow or refuses for a while: that is no verdict on any change, and each result arrives once. */
import { expect } from 'vitest';
import { ourMessages, verified } from './change-outcomes.ts';
import { gerritStory } from './gerrit-world.ts';

/** Of what waits for the host. */
const TROUBLE = [/host|Gerrit|trouble|later|stream/i];

gerritStory(
  'while Gerrit answers nothing, a gate waits, and afterwards all results arrive once',
  { expectedTrouble: TROUBLE },
  async world => {
    const { gerrit, observer } = world;
    const [first, second] = [await world.push(), await world.push()];
    for (const change of [first, second]) await world.gate(change);
    await world.runs('unit: 1', 'unit: 1 2');
    gerrit.faults.add({ operation: /^changes\//, method: 'POST', does: { kind: 'hang' } });
    gerrit.faults.add({ times: 1, does: { kind: 'reset', after: true } });
    gerrit.faults.add({ times: 2, does: { kind: 'status', status: 503, html: '<html>Away</html>' } });
    gerrit.faults.add({ times: 1_000, does: { kind: 'status', status: 502, html: '<html>Bad</html>' } });
    world.release(/./);
    const third = await world.push();
    await observer.until('the first to wait for its host', () => world.item(first)?.state.name === 'host');
    expect(world.item(second)).toBeDefined();
    gerrit.faults.heal();
    world.free();
    for (const change of [first, second]) await world.leaves(change, 'SUCCESS');
    await world.leaves(third, 'SUCCESS', 'check');
    expect([first, second].map(({ now }) => now.status)).toEqual(['MERGED', 'MERGED']);
    await observer.until('the vote of check', () => verified(third) === 1);
    for (const change of [first, second, third]) {
      const texts = ourMessages(change).filter(text => text.includes('SUCCESS'));
      expect(texts, `messages of ${change.number}`).toHaveLength(1);
    }
  },
);

gerritStory(
  'answers that are lost on the way are looked up: nothing is voted or submitted twice',
  { expectedTrouble: TROUBLE },
  async world => {
    const { gerrit } = world;
    const change = await world.push();
    for (const operation of ['changes/review', 'changes/submit'])
      gerrit.faults.add({ operation, times: 2, does: { kind: 'reset', after: true } });
    world.free();
    await world.leaves(change, 'SUCCESS', 'check');
    await world.approve(change);
    await world.leaves(change, 'SUCCESS');
    expect(change.now.status).toBe('MERGED');
    expect(gerrit.count('changes/submit')).toBe(1);
    const texts = ourMessages(change);
    expect([...new Set(texts)]).toEqual(texts);
    expect(texts.filter(text => text.includes('SUCCESS'))).toHaveLength(2);

    // A proxy that gives up although Gerrit goes on.
    const slow = await world.push();
    gerrit.faults.add({
      operation: 'changes/submit',
      does: { kind: 'status', status: 504, html: '<html/>', after: true },
    });
    await world.approve(slow);
    await world.leaves(slow, 'SUCCESS');
    expect([slow.now.status, gerrit.count('changes/submit')]).toEqual(['MERGED', 2]);
  },
);

gerritStory(
  'what Gerrit refuses is reported with its own words, and a vote that it does not take costs no message',
  { expectedTrouble: [...TROUBLE, /label|vote|may not/i] },
  async world => {
    const { gerrit, observer } = world;
    const library = gerrit.world.projects.get('acme/library');
    if (library === undefined) throw new Error('no acme/library');
    world.free();
    // With a vote that the account may not give the whole review is refused; a label that is gone is dropped without a word.
    const { access, labels } = library;
    const losses = [
      () => keepOnly(access.labels, ({ label }) => label !== 'Verified'),
      () => keepOnly(labels, ({ name }) => name !== 'Verified'),
    ];
    for (const loss of losses) {
      loss();
      const change = await world.push({ project: 'acme/library' });
      await world.leaves(change, 'SUCCESS', 'check');
      await observer.until('the message', () => ourMessages(change).some(text => text.includes('SUCCESS')));
      expect(verified(change)).toBeUndefined();
    }
    // It shows among the configuration errors of the tenant.
    await observer.until('the configuration error', async () =>
      JSON.stringify(await world.api.get('/api/tenant/tenant-one/config-errors')).includes(
        'Gerrit did not take our vote Verified +1',
      ),
    );

    // A refusal that a person has to end: each kind of 409 and 403.
    const refusals = [
      [409, 'Failed to submit 1 change due to the following problems:\nChange 3: needs Release'],
      [403, 'submit not permitted'],
      [
        409,
        'Failed to submit 1 change due to the following problems:\nChange 5: Change could not be merged due to a path conflict. Please rebase',
      ],
    ] as const;
    for (const [status, message] of refusals) {
      const change = await world.push();
      gerrit.faults.add({ operation: 'changes/submit', times: 1, does: { kind: 'status', status, message } });
      await world.approve(change);
      const left = await world.leaves(change, 'MERGE_FAILURE');
      const words = message.split(/[:.]/).at(-1)?.trim() ?? message;
      await observer.until('the message', () => ourMessages(change).some(text => text.includes(words)));
      expect(verified(change)).toBe(-2);
      expect(change.now.status, String(left.reason)).toBe('NEW');
    }
  },
);

function keepOnly<T>(list: T[], isKept: (each: T) => boolean): void {
  list.splice(0, list.length, ...list.filter(isKept));
}
