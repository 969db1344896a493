/** Groups of GitHub's own merge queue. Numbers are those of the study's cases. */
import { describe, expect, test } from 'vitest';
import { APP, eventLines, scriptedGithub, sha, webhook } from './scripted-github.ts';

const REF = `refs/heads/gh-readonly-queue/main/pr-3-${sha('main')}`;
const group = (action: 'checks_requested' | 'destroyed', head = 'group') =>
  webhook(
    'merge_group',
    action,
    { kind: 'merge-group', ref: REF, head: sha(head), baseRef: 'refs/heads/main', base: sha('main') },
    'github-merge-queue[bot]',
  );

describe('a merge group', () => {
  test('is an update of its ref on the way to its branch, read once (59)', async () => {
    const { world, source, receive } = scriptedGithub();
    world.refs.set(REF, { object: sha('group') });
    const requested = await receive(group('checks_requested'));
    const change = {
      ...{ kind: 'ref', project: APP, ref: REF, targetBranch: 'main' },
      ...{ oldCommit: sha('main'), newCommit: sha('group') },
    };
    expect(eventLines(requested)).toEqual(['merge_group checks_requested by github-merge-queue[bot]']);
    expect(requested.events).toMatchObject([{ branch: 'main', change, configMayHaveChanged: [] }]);
    expect(requested.changes).toMatchObject([{ change, status: 'open' }]);
    expect((await receive(group('checks_requested'))).discarded).toMatch(/another delivery/);
    expect(world.requests).toEqual(['ref-state']);
    const key = requested.events[0]?.change.key;
    const signal = new AbortController().signal;
    expect(await source.fetchChange(key ?? ('' as never), signal)).toMatchObject({
      change: { key, targetBranch: 'main' },
    });
  });

  test('that is destroyed leaves its pipelines, and a late request for it is dropped (59)', async () => {
    const { world, receive, process, eventOf, advance } = scriptedGithub();
    world.refs.set(REF, { object: sha('group') });
    const { events } = await receive(group('checks_requested'));
    world.refs.clear();
    const destroyed = await receive(group('destroyed'));
    expect(destroyed).toMatchObject({
      events: [],
      dequeues: [{ change: events[0]?.change.key, by: "GitHub's merge queue" }],
    });
    expect(destroyed.discarded).toBeUndefined();
    const late = eventOf(group('checks_requested'));
    for (let tries = 0; tries < 4; tries++) {
      expect(await process(late)).toHaveProperty('later');
      advance(4_000);
    }
    expect(await process(late)).toMatchObject({ events: [], discarded: 'the merge group is gone' });
  });

  test('that was made again has another head, and is tested again', async () => {
    const { world, receive } = scriptedGithub();
    world.refs.set(REF, { object: sha('group') });
    await receive(group('checks_requested'));
    world.refs.set(REF, { object: sha('other') });
    // The old one is given up late.
    expect((await receive(group('checks_requested', 'other'))).events).toHaveLength(1);
    await receive(group('destroyed'));
    expect((await receive(group('checks_requested', 'other'))).discarded).toMatch(/another delivery/);
  });

  test('waits while GitHub does not serve', async () => {
    const { world, process, eventOf } = scriptedGithub();
    world.failure = { kind: 'later', later: { reason: 'unreachable', text: 'GitHub answered 502' } };
    expect(await process(eventOf(group('checks_requested')))).toMatchObject({
      later: { reason: 'unreachable' },
    });
  });
});
