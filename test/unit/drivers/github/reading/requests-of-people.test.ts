/** What people ask for at GitHub: the button of a check run, a command in a comment. Numbers are those of the study's cases. */
import { describe, expect, test } from 'vitest';
import { derivedUuid } from '../../../../../src/lib/ids.ts';
import { aboutPull, pull, scriptedGithub, sha, webhook } from './scripted-github.ts';

const ITEM = derivedUuid('item');
const opened = () => webhook('pull_request', 'opened', aboutPull(1), 'alice');
const pressed = (by: string, more: { identifier?: string; externalId?: string | null } = {}) =>
  webhook(
    'check_run',
    'requested_action',
    {
      kind: 'button',
      commit: sha('one'),
      identifier: 'dequeue',
      run: 'tenant-one/gate',
      externalId: `tenant-one/gate/${ITEM}`,
      ...more,
    },
    by,
  );

async function withPull() {
  const scripted = scriptedGithub();
  scripted.world.pulls.set(1, pull(1, 'one'));
  await scripted.receive(opened());
  scripted.world.requests.length = 0;
  return scripted;
}

describe('the button of a check run', () => {
  test('dequeues the item of the run for one who may write (46)', async () => {
    const { world, receive } = await withPull();
    expect((await receive(pressed('bob'))).dequeues).toEqual([
      { change: 'github/acme/app#1', tenant: 'tenant-one', pipeline: 'gate', item: ITEM, by: 'bob' },
    ]);
    expect(world.requests).toEqual(['repos/get-collaborator-permission-level']);
  });

  test.each([
    ['eve', 'eve has read, and it takes write'],
    ['mallory', 'mallory has no access to acme/app'],
  ])('is without effect for %s, with a decision (46)', async (by, why) => {
    const { receive } = await withPull();
    const processed = await receive(pressed(by));
    expect(processed.dequeues).toBeUndefined();
    expect(processed.refusals).toMatchObject([
      {
        change: { key: 'github/acme/app#1' },
        text: `the button of tenant-one/gate was pressed, without effect: ${why}`,
      },
    ]);
  });

  test.each([
    { identifier: 'format-disk' },
    { externalId: null },
    { externalId: `other/gate/${ITEM}` },
    { externalId: 'tenant-one/gate/refused' },
  ])('that is not ours is nothing, without a request: %j', async more => {
    const { world, receive } = await withPull();
    const processed = await receive(pressed('bob', more));
    expect(processed.dequeues ?? processed.refusals).toEqual([]);
    expect(world.requests).toEqual([]);
  });

  test('of a commit that was pushed is of the ref, by the name that GitHub gives', async () => {
    const { receive } = scriptedGithub();
    const { about, ...rest } = pressed('bob');
    const processed = await receive({ ...rest, about: { ...about, branch: 'main' } as typeof about });
    expect(processed.dequeues?.map(({ change }) => change)).toEqual([
      `github/acme/app@refs/heads/main@${sha('one')}`,
      `github/acme/app@refs/tags/main@${sha('one')}`,
    ]);
  });
});

describe('a command in a comment', () => {
  const comment = (by: string, text: string, id = 991) =>
    webhook(
      'issue_comment',
      'created',
      aboutPull(1, { comment: text, commentId: id, once: `comment-${id}` }),
      by,
    );

  test('dequeues the change for one who may write, once, and is answered by a reaction', async () => {
    const { world, receive } = await withPull();
    const said = comment('bob', 'Not today.\r\n  /gatehouse dequeue \r\nSorry');
    expect((await receive(said)).dequeues).toEqual([{ change: 'github/acme/app#1', by: 'bob' }]);
    expect((await receive(said)).dequeues).toBeUndefined();
    expect(world.reactions).toEqual(['991: +1']);
  });

  test('promotes the change for one who may write, once, and is answered by a reaction', async () => {
    const { world, receive } = await withPull();
    const said = comment('bob', '/gatehouse promote');
    const processed = await receive(said);
    expect(processed).toMatchObject({ promotes: [{ change: 'github/acme/app#1', by: 'bob' }] });
    expect(processed.dequeues).toBeUndefined();
    expect((await receive(said)).promotes).toBeUndefined();
    expect(world.reactions).toEqual(['991: +1']);
  });

  test('asks about the change, for one who may write', async () => {
    const { world, receive } = await withPull();
    const processed = await receive(comment('bob', '/gatehouse why'));
    expect(processed.questions).toEqual([{ change: 'github/acme/app#1', by: 'bob' }]);
    expect(processed.discarded).toBeUndefined();
    expect(world.reactions).toEqual(['991: +1']);
    const refused = await receive(comment('eve', '/gatehouse why', 992));
    expect(refused.questions).toBeUndefined();
  });

  test.each([
    ['eve', '/gatehouse promote', 'eve has read, and it takes write'],
    ['eve', '/gatehouse dequeue', 'eve has read, and it takes write'],
    [
      'bob',
      '/gatehouse fly',
      '/gatehouse fly is not known; known are /gatehouse dequeue, /gatehouse promote, /gatehouse why',
    ],
  ])('of %s, %s, is without effect, with a decision', async (by, text, why) => {
    const { world, receive } = await withPull();
    const processed = await receive(comment(by, text));
    expect(processed.dequeues ?? processed.promotes).toBeUndefined();
    expect(processed.refusals).toMatchObject([{ text: `a comment of ${by} is without effect: ${why}` }]);
    expect(world.reactions).toEqual(['991: confused']);
  });

  test.each(['recheck', 'please run /gatehouse dequeue', '> /gatehouse dequeue', '/gatehouse'])(
    'is a line of its own: %j is none',
    async text => {
      const { world, receive } = await withPull();
      expect((await receive(comment('bob', text))).dequeues).toBeUndefined();
      expect(world.requests).not.toContain('repos/get-collaborator-permission-level');
    },
  );
});
