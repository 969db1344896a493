/** What people ask for at GitHub: the button of a check run, and a command in a comment. */
import { expect } from 'vitest';
import type { Comment } from '../fake/world.ts';
import { githubStory } from './github-world.ts';

// Case 46
githubStory('the button of a check run takes the item out, for people who may write', {}, async world => {
  const { github, app, observer } = world;
  const [first, second] = [await world.open(), await world.open()];
  await github.review(app, first, 'bob', 'APPROVED');
  await github.review(app, second, 'bob', 'APPROVED');
  await world.runs('unit: 1', 'unit: 1 2');
  const before = world.item(second);
  const run = () => app.checks.findLast(({ headSha }) => headSha === second.now.head);
  await observer.until('the check run to begin', () => run()?.name === 'tenant-one/gate');
  expect(run()?.actions).toMatchObject([{ identifier: 'dequeue' }]);

  await github.pressButton(app, run() ?? never(), 'dequeue', 'eve');
  await observer.until('the decision about it', async () => {
    const why = await world.api.get(
      `/api/tenant/tenant-one/changes/${second.number}/decisions?project=acme/app`,
    );
    return JSON.stringify(why).includes('eve has read, and it takes write');
  });

  // The item goes on with another buildset, and is still the one that the button is about.
  world.fail('unit', first);
  world.release(/^unit: 1$/);
  await world.leaves(first, 'FAILURE');
  await world.runs('unit: 2');
  expect(world.item(second)?.uuid).toBe(before?.uuid);
  await github.pressButton(app, run() ?? never(), 'dequeue', 'bob');
  const left = await world.leaves(second, 'DEQUEUED');
  expect(left.reason).toBe('dequeued-by-hand');
  await observer.until('the check run to end', () => run()?.status === 'completed');
  expect(run()).toMatchObject({ conclusion: 'cancelled', actions: [] });
  // Of an item that is gone.
  await github.pressButton(app, run() ?? never(), 'dequeue', 'bob');
});

githubStory('a comment takes the pull request out, for people who may write', {}, async world => {
  const { github, app, observer } = world;
  const pull = await world.open();
  await world.runs('unit: 1');
  const reactions = (comment: Comment) => comment.reactions.map(({ content }) => content);
  const refused = await github.comment(app, pull, 'eve', '/gatehouse dequeue');
  await observer.until('an answer', () => reactions(refused).length === 1);
  await world.runs('unit: 1');
  const taken = await github.comment(app, pull, 'bob', 'Wrong branch.\n\n/gatehouse dequeue');
  await world.leaves(pull, 'DEQUEUED', 'check');
  expect([refused, taken].map(reactions)).toEqual([['confused'], ['+1']]);
});

githubStory('a comment takes the pull request to the head of the gate', {}, async world => {
  const { github, app, observer } = world;
  const [first, second] = [await world.open(), await world.open()];
  await github.review(app, first, 'bob', 'APPROVED');
  await github.review(app, second, 'bob', 'APPROVED');
  await world.runs('unit: 1', 'unit: 1 2');
  const said = await github.comment(app, second, 'bob', '/gatehouse promote');
  await world.runs('unit: 2', 'unit: 2 1');
  await observer.until('an answer', () => said.reactions.length === 1);
  expect(said.reactions.map(({ content }) => content)).toEqual(['+1']);
  world.release(/./);
  for (const pull of [second, first]) await world.leaves(pull, 'SUCCESS');
});

githubStory('a question in a comment is answered by one comment, which is edited', {}, async world => {
  const { github, app, observer } = world;
  const pull = await world.open();
  await world.runs('unit: 1');
  const answers = () => pull.comments.filter(({ body }) => body.startsWith('<!-- gatehouse answer -->'));
  await github.comment(app, pull, 'eve', '/gatehouse why');
  const first = await github.comment(app, pull, 'bob', '/gatehouse why');
  await observer.until('an answer', () => answers().length === 1);
  expect(answers()[0]?.body).toMatch(
    /Asked by bob:\n\n```text\nacme\/app 1,[\s\S]*● in check for [\s\S]*● unit/,
  );
  expect(first.reactions.map(({ content }) => content)).toEqual(['+1']);
  await world.observer.until('the decisions in the history', async () => {
    const why = await world.api.get(
      `/api/tenant/tenant-one/changes/${pull.number}/decisions?project=acme/app`,
    );
    return JSON.stringify(why).includes('eve has read');
  });
  world.free();
  await world.leaves(pull, 'SUCCESS', 'check');
  await github.comment(app, pull, 'bob', '/gatehouse why');
  await observer.until('another answer', () => answers()[0]?.body.includes('left check') === true);
  expect(answers()).toHaveLength(1);
  expect(answers()[0]?.body).toContain(
    'a comment of eve is without effect: eve has read, and it takes write',
  );
  const spans = (kind: string) =>
    world.sink.spans.filter(({ attributes }) => attributes['gatehouse.span.type'] === kind);
  await observer.until('the spans of both answers', () => spans('HostAnswer').length === 2);
  for (const span of spans('HostAnswer')) {
    expect(span.attributes).toMatchObject({
      'gatehouse.by': 'bob',
      'gatehouse.report.outcome': 'done',
      'vcs.change.id': String(pull.number),
    });
    const requests = spans('HostQuery').filter(({ traceId }) => traceId === span.traceId);
    expect(requests.map(({ name }) => name)).toContainEqual(
      expect.stringMatching(/ issues\/(create|update)-comment /),
    );
    const asked = spans('GithubEvent').map(({ traceId }) => traceId);
    expect(asked).toEqual(expect.arrayContaining(span.links.map(({ traceId }) => traceId)));
    expect(span.links.length).toBeGreaterThan(0);
  }
});

function never(): never {
  throw new Error('there is no check run');
}
