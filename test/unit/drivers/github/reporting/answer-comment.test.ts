/** The one comment on a pull request that answers questions. */
import { expect, test } from 'vitest';
import { createGithubAnswerer } from '../../../../../drivers/github/reporting/answer-comment.ts';
import { pullChange } from '../change.ts';
import { createPortWorld, type PortWorld } from '../port-world.ts';

const change = pullChange();

/** A process that answers. */
function startProcess({ api }: PortWorld, mayAct = () => true) {
  const answerer = createGithubAnswerer({ api, known: { seen() {} } });
  return (text: string, by = 'bob') =>
    answerer.answer({ change, by, text }, AbortSignal.timeout(5_000), mayAct);
}

test('each answer takes the place of the one before, in any process, and by one request in the same', async () => {
  const world = createPortWorld();
  const answer = startProcess(world);
  expect(await answer('in gate')).toEqual({ kind: 'done' });
  world.requests.length = 0;
  await answer('left gate');
  expect(world.requests.map(({ operation }) => operation)).toEqual(['issues/update-comment']);
  await startProcess(world)('never in a pipeline', 'ann_b');
  expect(world.comments.map(({ body }) => body)).toEqual([
    '<!-- gatehouse answer -->\nAsked by ann\\_b:\n\n```text\nnever in a pipeline\n```',
  ]);
});

test('a comment of another author is not ours, and one that was deleted is written anew', async () => {
  const world = createPortWorld();
  const answer = startProcess(world);
  await answer('in gate');
  const body = world.comments[0]?.body ?? '';
  world.comments.splice(0, 1, { id: 1, body, user: { login: 'eve' } });
  expect(await answer('left gate')).toEqual({ kind: 'done' });
  expect(world.comments.map(({ user }) => user.login)).toEqual(['eve', 'gatehouse[bot]']);
  expect(world.comments[0]?.body).toBe(body);
});

test('a text with fences of its own ends inside its fence, and within what GitHub takes', async () => {
  const world = createPortWorld();
  await startProcess(world)(`job \`\`\`\n@acme\n${'x'.repeat(70_000)}`);
  const [{ body } = { body: '' }] = world.comments;
  expect(body.length).toBeLessThan(65_536);
  expect(body.match(/```/g)).toHaveLength(2);
  expect(body.endsWith('…\n```')).toBe(true);
});

test('what GitHub does not take now is asked again, and what it refuses is not', async () => {
  const world = createPortWorld();
  const later = { reason: 'limited', text: 'secondary limit' } as const;
  world.answer = ({ operation }) =>
    operation === 'issues/create-comment' ? { kind: 'later', later } : undefined;
  expect(await startProcess(world)('in gate')).toEqual({ kind: 'later', ...later });
  world.answer = ({ operation }) =>
    operation === 'issues/create-comment'
      ? { kind: 'refused', status: 403, text: 'the conversation is locked', errors: [] }
      : undefined;
  expect(await startProcess(world)('in gate')).toEqual({
    kind: 'failed',
    text: 'GitHub refused the answer: the conversation is locked [403]',
  });
});
