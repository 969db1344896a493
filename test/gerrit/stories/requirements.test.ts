/** What pipelines require of a change and what they refuse, each beside one that takes everything. */
import { expect } from 'vitest';
import type { FakeChange } from '../fake/world.ts';
import { type GerritWorld, gerritStory } from './gerrit-world.ts';

/** Lines of each pipeline; its job has its name. */
const PIPELINES: { readonly [name: string]: string } = {
  everything: '',
  username: 'require: {local: {approval: [{Verified: 1, username: ^bob$}]}}',
  email: 'require: {local: {approval: [{Verified: 1, email: alice@example.org}]}}',
  older: 'require: {local: {approval: [{Code-Review: 2, older-than: 48h}]}}',
  newer: 'require: {local: {approval: [{Code-Review: 2, newer-than: 48h}]}}',
  'no-veto': 'reject: {local: {approval: [{Code-Review: [-2, -1], username: alice}]}}',
  'two-votes': 'require: {local: {approval: [{Verified: [1, 2]}, {Code-Review: 2}]}}',
  open: 'require: {local: {open: true}}',
  unmerged: 'require: {local: {status: [NEW]}}',
  current: 'require: {local: {current-patchset: true}}',
  ready: 'require: {local: {wip: false}}',
  unfinished: 'require: {local: {wip: true}}',
  tagged: 'require: {local: {hashtags: ^ready$}}',
};

/** Pipelines whose trigger requires. */
const TRIGGERS = `
- pipeline:
    name: trigger-vote
    manager: independent
    trigger:
      local:
        - event: comment-added
          comment: test it
          require-approval: [{Verified: 1}]
- pipeline:
    name: trigger-veto
    manager: independent
    trigger:
      local:
        - event: comment-added
          comment: test it
          username: ^bob$
          reject: {approval: [{Verified: -1}]}
`;

const NAMES = [...Object.keys(PIPELINES), 'trigger-vote', 'trigger-veto'];

const LAYOUT = `
${Object.entries(PIPELINES)
  .map(
    ([name, line]) => `- pipeline:
    name: ${name}
    manager: independent
    trigger: {local: {event: comment-added, comment: test it}}
    ${line}
`,
  )
  .join('')}${TRIGGERS}
- job: {name: base, parent: null, run: playbooks/job.sh}
${NAMES.map(name => `- job: {name: ${name}}\n`).join('')}- project:
    name: acme/app
${NAMES.map(name => `    ${name}: {jobs: [${name}]}\n`).join('')}`;

/** Milliseconds by which Gerrit's clock is behind. */
let ago = 0;
const DAY = 86_400_000;

/** Pipelines that a comment of bob brings the change into, but the one that takes everything. */
async function takenBy(
  world: GerritWorld,
  change: FakeChange,
  patchSet?: number,
): Promise<readonly string[]> {
  const before = world.stage.builds.length;
  const ofThis = () => world.stage.builds.slice(before).map(({ job }) => job);
  const more = patchSet === undefined ? {} : { patchSet };
  await world.gerrit.comment(change, 'bob', 'test it', more);
  await world.observer.until('the comment to be seen', () => ofThis().includes('everything'));
  await world.observer.settle();
  await world.observer.until('all items to leave', () => world.observer.items().length === 0);
  const wanted = NAMES.filter(name => name !== 'everything');
  return wanted.filter(name => ofThis().includes(name));
}

gerritStory(
  'a pipeline takes what has the votes, state and tags that it requires, and nothing of what it rejects',
  {
    layout: LAYOUT,
    projects: ['acme/app'],
    fake: { now: () => Date.now() - ago },
    async before(gerrit) {
      ago = 3 * DAY;
      const change = await gerrit.push({ project: 'acme/app', files: { 'a.txt': 'a\n' } });
      await gerrit.vote(change, 'bob', { 'Code-Review': 2 });
      ago = 0;
    },
  },
  async world => {
    const { gerrit } = world;
    const change = gerrit.change(1);
    world.free();
    // What was there before counts as old: it is listed twice, before and behind the opening of the stream.
    const listed = () =>
      gerrit.requests.filter(each => each.operation === 'changes/query' && each.status === 200);
    await world.observer.until('the first looks', () => world.ssh.streams() === 1 && listed().length >= 2);
    const taken = async (patchSet?: number) => (await takenBy(world, change, patchSet)).join(' ');
    expect(await taken()).toBe('older no-veto open unmerged current ready trigger-veto');
    await gerrit.vote(change, 'alice', { Verified: 1 });
    expect(await taken()).toBe(
      'email older no-veto two-votes open unmerged current ready trigger-vote trigger-veto',
    );
    await gerrit.vote(change, 'bob', { Verified: 1 });
    await gerrit.vote(change, 'alice', { 'Code-Review': 2, Verified: -1 });
    expect(await taken()).toBe(
      'username older newer no-veto two-votes open unmerged current ready trigger-vote',
    );

    // A new patch set has none of the votes; a veto of bob is not the one that is named, one of alice is.
    await gerrit.amend(change, { files: { more: '1\n' } });
    await gerrit.vote(change, 'bob', { 'Code-Review': -2 });
    expect(await taken()).toBe('no-veto open unmerged current ready trigger-veto');
    await gerrit.vote(change, 'alice', { 'Code-Review': -1 });
    await gerrit.setHashtags(change, { add: ['ready'] });
    await gerrit.setWip(change, true);
    expect(await taken()).toBe('open unmerged current unfinished tagged trigger-veto');
    // A comment on the old patch set is about the change as it is now.
    expect(await taken(1)).toBe('open unmerged current unfinished tagged trigger-veto');
  },
);
