/** A pull request that GitHub does not see as merged is closed with one comment wherever an earlier try ended. */
import { expect, test } from 'vitest';
import { closeLanded } from '../../../../../drivers/github/landing/close-landed.ts';
import { fromMilliseconds } from '../../../../../src/lib/clock.ts';
import { parseCommitId } from '../../../../../src/model/project.ts';
import { app, pullChange } from '../change.ts';
import { createPortWorld } from '../port-world.ts';

const change = pullChange('a'.repeat(40));
const LANDED = { project: app, branch: 'main', commit: parseCommitId('e'.repeat(40)), tree: 'f'.repeat(40) };

function openClosing() {
  const world = createPortWorld(change.commit);
  const call = { repository: 'acme/app', weight: 'final', signal: AbortSignal.timeout(5_000) } as const;
  const warned: string[] = [];
  const log = { debug() {}, info() {}, warn: (_facts: object, text: string) => void warned.push(text) };
  const context = { api: world.api, change, pull: 1, call, log, now: fromMilliseconds(1_795_000_000_000) };
  const talkOf = (people: number) => {
    for (let at = 0; at < people; at++)
      world.comments.push({ id: at, node_id: `IC_${at}`, body: `comment ${at}`, user: { login: 'bob' } });
  };
  return {
    world,
    talkOf,
    warned,
    close: (closing: 'open' | 'perhaps') => closeLanded(LANDED, closing, context),
  };
}

const said = ({ comments }: ReturnType<typeof createPortWorld>) =>
  comments.filter(({ body }) => body?.includes(`Landed in \`main\` as ${LANDED.commit}`)).length;

test.each([0, 99, 100, 350, 999])('a comment of an earlier try is found behind %i others', async others => {
  const { world, talkOf, close } = openClosing();
  talkOf(others);
  await close('open');
  talkOf(40);
  await close('perhaps');
  expect(said(world)).toBe(1);
  expect(world.pull.state).toBe('closed');
});

test('behind a thousand comments of a day it is looked for with ten requests, and written again', async () => {
  const { world, talkOf, close, warned } = openClosing();
  talkOf(1_000);
  await close('open');
  await close('perhaps');
  expect(said(world)).toBe(2);
  expect(world.requests.filter(({ operation }) => operation === 'issues/list-comments')).toHaveLength(10);
  expect(warned).toEqual([]);
});
