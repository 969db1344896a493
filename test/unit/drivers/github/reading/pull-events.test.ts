/** Pull requests: webhooks in any order and number → events, changes and memory. Numbers are those of the study's cases. */

import { describe, expect, test } from 'vitest';
import {
  type Notification,
  readGithubNotification,
} from '../../../../../drivers/github/intake/notification.ts';
import { sha256 } from '../../../../../src/lib/ids.ts';
import { changeKey } from '../../../../../src/model/change.ts';
import {
  APP,
  aboutPull,
  contexts,
  eventLines,
  labels,
  NOW,
  pull,
  review,
  reviews,
  run,
  scriptedGithub,
  sha,
  status,
  threads,
  webhook,
} from './scripted-github.ts';

const opened = (number = 1) => webhook('pull_request', 'opened', aboutPull(number), 'alice');
const pushed = (number = 1) => webhook('pull_request', 'synchronize', aboutPull(number), 'alice');
const comment = (id: number, text: string, actor = 'eve') =>
  webhook('issue_comment', 'created', aboutPull(1, { comment: text, once: `comment-${id}` }), actor);

describe('a pull request', () => {
  test('that is opened is a change, read with two requests (11)', async () => {
    const { world, receive } = scriptedGithub();
    const body = 'Logs in.\r\n\r\nDepends-On: https://github.com/acme/lib/pull/7\r\n';
    world.pulls.set(1, pull(1, 'one', { body }));
    const processed = await receive(opened());
    expect(eventLines(processed)).toEqual(['pull_request opened by alice']);
    expect(processed.changes).toMatchObject([
      {
        change: {
          kind: 'change',
          key: 'github/acme/app#1',
          project: APP,
          branch: 'main',
          id: '1',
          patchset: sha('one'),
          commit: sha('one'),
          ref: 'refs/pull/1/head',
          url: 'https://github.com/acme/app/pull/1',
          owner: 'alice',
          subject: 'Let people log in',
        },
        status: 'open',
        dependsOn: [],
        unresolvedDependencies: ['https://github.com/acme/lib/pull/7'],
      },
    ]);
    expect(processed.events[0]?.change).toEqual(processed.changes[0]?.change);
    expect(processed.firstLooks).toEqual([APP]);
    expect(world.requests).toEqual(['pull-state', 'repos/get-branch-rules']);
  });

  test.each([
    ['from the webhook', { base: 'main' }, 0],
    ['from the reading before', {}, 1],
  ])('whose base is known %s is read with both requests at once', async (_, about, readBefore) => {
    const { world, receive, advance } = scriptedGithub();
    world.pulls.set(1, pull(1, 'one'));
    for (let times = 0; times < readBefore; times++) await receive(opened());
    advance(3_600_000); // the rules are asked for again
    world.requests.length = 0;
    const answers = Promise.withResolvers<void>();
    world.answersAfter = answers.promise;
    const processed = receive(webhook('pull_request', 'synchronize', aboutPull(1, about)));
    await expect.poll(() => world.requests).toEqual(['pull-state', 'repos/get-branch-rules']);
    answers.resolve();
    expect((await processed).discarded).toBe(readBefore === 0 ? undefined : 'the pull request is as it was');
    expect(world.requests).toHaveLength(2);
  });

  test('that has another base than its webhook says has the rules of that one', async () => {
    const { world, receive } = scriptedGithub();
    world.pulls.set(1, pull(1, 'one'));
    const parameters = { required_status_checks: [{ context: 'lint' }] };
    world.rulesets = [{ type: 'required_status_checks', ruleset_id: 4, parameters }];
    const processed = await receive(webhook('pull_request', 'opened', aboutPull(1, { base: 'next' })));
    expect(processed.changes).toMatchObject([{ facts: { rules: { checks: [{ name: 'lint' }] } } }]);
    expect(world.requests).toEqual(['pull-state', 'repos/get-branch-rules', 'repos/get-branch-rules']);
  });

  test('whose opening is processed after two pushes is tested in its last state alone (12)', async () => {
    const { world, receive } = scriptedGithub();
    world.pulls.set(1, pull(1, 'two'));
    expect(eventLines(await receive(pushed()))).toEqual(['pull_request changed by alice']);
    world.pulls.set(1, pull(1, 'three'));
    expect((await receive(pushed())).changes).toMatchObject([{ change: { patchset: sha('three') } }]);
    expect(eventLines(await receive(pushed()))).toEqual([]);
    expect(await receive(opened())).toMatchObject({ events: [], changes: [], updated: [] });
  });

  test('whose push is delivered before its opening gives one event, and after its closing none (13)', async () => {
    const { world, receive } = scriptedGithub();
    world.pulls.set(1, pull(1, 'two'));
    expect(eventLines(await receive(pushed()))).toEqual(['pull_request changed by alice']);
    expect(eventLines(await receive(opened()))).toEqual([]);
    world.pulls.set(1, pull(1, 'three', { state: 'CLOSED' }));
    const closed = await receive(webhook('pull_request', 'closed', aboutPull(1)));
    expect(eventLines(closed)).toEqual(['pull_request closed by bob']);
    expect(closed.changes).toMatchObject([{ status: 'abandoned' }]);
    expect(eventLines(await receive(pushed()))).toEqual([]);
  });

  test('whose label is delivered before its opening has both', async () => {
    const { world, receive } = scriptedGithub();
    world.pulls.set(1, pull(1, 'one', labels('gate')));
    const labeled = webhook('pull_request', 'labeled', aboutPull(1, { label: 'gate' }));
    expect(eventLines(await receive(labeled))).toEqual(['pull_request labeled gate by bob']);
    expect(eventLines(await receive(opened()))).toEqual(['pull_request opened by alice']);
    expect(eventLines(await receive(opened()))).toEqual([]);
  });

  test('that a listing showed before its webhooks were processed has their events all the same', async () => {
    const { world, receive } = scriptedGithub();
    world.pulls.set(1, pull(1, 'one', reviews(review('bob', 'APPROVED'))));
    const swept = { ...opened(), event: 'sweep', action: '' };
    expect(eventLines(await receive(swept))).toEqual([]);
    const approved = aboutPull(1, { review: 'approved', once: 'review-1-approved' });
    const submitted = webhook('pull_request_review', 'submitted', approved, 'bob');
    expect(eventLines(await receive(submitted))).toEqual([
      'pull_request opened',
      'pull_request_review submitted approved by bob',
    ]);
    expect(eventLines(await receive(opened()))).toEqual([]);
    expect(eventLines(await receive(submitted))).toEqual([]);
  });

  test('reports with the next webhook what lost ones would have reported', async () => {
    const { world, receive } = scriptedGithub();
    world.pulls.set(1, pull(1, 'one'));
    await receive(opened());
    const found = [status('build', 'SUCCESS'), run('lint', 'SUCCESS', 9), run('slow', null, 9)];
    const more = { ...labels('gate'), ...reviews(review('bob', 'APPROVED')), ...contexts('two', ...found) };
    world.pulls.set(1, pull(1, 'two', { ...more, title: 'Other' }));
    expect(eventLines(await receive(comment(1, 'recheck')))).toEqual([
      'pull_request changed',
      'pull_request edited title',
      'pull_request labeled gate',
      'pull_request_review submitted approved by bob',
      'pull_request comment recheck by eve',
      'pull_request status ci-bot:build:success by ci-bot',
      'check_run completed other:lint:success',
    ]);
  });

  test.each([
    ['labeled', 'unlabeled'],
    ['unlabeled', 'labeled'],
  ])('whose label came and went within a second has none: %s, %s (38)', async (...actions) => {
    const { world, receive } = scriptedGithub();
    world.pulls.set(1, pull(1, 'one'));
    await receive(opened());
    for (const action of actions) {
      const processed = await receive(webhook('pull_request', action, aboutPull(1, { label: 'gate' })));
      expect(eventLines(processed)).toEqual([]);
    }
  });

  test('that becomes a draft, or moves to another branch, is reported with its new state (15, 17)', async () => {
    const { world, receive } = scriptedGithub();
    world.pulls.set(1, pull(1, 'one'));
    await receive(opened());
    world.pulls.set(1, pull(1, 'one', { isDraft: true }));
    const draft = await receive(webhook('pull_request', 'converted_to_draft', aboutPull(1)));
    expect(eventLines(draft)).toEqual(['pull_request converted_to_draft by bob']);
    expect(draft.changes).toMatchObject([{ facts: { draft: true } }]);
    world.pulls.set(1, pull(1, 'one', { isDraft: true, baseRefName: 'stable' }));
    const moved = await receive(webhook('pull_request', 'edited', aboutPull(1)));
    expect(eventLines(moved)).toEqual(['pull_request changed by bob', 'pull_request edited base by bob']);
    expect(moved.changes).toMatchObject([{ change: { branch: 'stable' } }]);
  });

  test('of a deleted fork and deleted users is processed (22)', async () => {
    const { world, receive } = scriptedGithub();
    const more = {
      ...reviews(review('x', 'APPROVED', { author: null, commit: null })),
      ...contexts('one', status('build', 'ERROR', null)),
    };
    world.pulls.set(1, pull(1, 'one', { author: null, headRepository: null, ...more }));
    const processed = await receive(opened());
    const facts = { headRepository: null, reviews: [{ by: 'ghost', commit: null }] };
    expect(processed.changes).toMatchObject([{ change: { owner: 'ghost' }, facts }]);
    expect(eventLines(processed)).toContain('pull_request status ghost:build:error by ghost');
  });

  test('that has hundreds of conversations waits for those that are open', async () => {
    const page = (after: number | null, ...open: boolean[]) => ({
      ...threads(...open),
      pageInfo: { hasNextPage: after !== null, endCursor: after === null ? null : String(after) },
    });
    const resolved = Array.from({ length: 100 }, () => false);
    const conversations = async (demanded: boolean, ...pages: readonly ReturnType<typeof page>[]) => {
      const { world, receive } = scriptedGithub();
      const [first = page(null), ...more] = pages;
      if (demanded)
        world.rulesets = [{ type: 'pull_request', parameters: { required_review_thread_resolution: true } }];
      world.pulls.set(1, pull(1, 'one', { reviewThreads: first }));
      world.morePages = more;
      const [record] = (await receive(opened())).changes;
      const asked = world.requests.filter(each => each === 'more-threads').length;
      return [Object(record?.facts).unresolvedConversations, asked];
    };
    const pages = [page(0, ...resolved), page(1, ...resolved), page(null, true, false, true)];
    expect(await conversations(true, ...pages)).toEqual([2, 2]);
    expect(await conversations(false, ...pages)).toEqual([0, 0]);
    expect(await conversations(true, page(0, true, ...resolved), page(null, true))).toEqual([1, 0]);
    const endless = Array.from({ length: 30 }, (_, at) => page(at, ...resolved));
    expect(await conversations(true, ...endless)).toEqual([0, 9]);
  });

  test('whose reviewers administrate the repository says so, where that is read, at one request an hour for each', async () => {
    const given = reviews(
      review('ada', 'APPROVED'),
      review('bob', 'APPROVED'),
      review('eve', 'APPROVED'),
      review('carol', 'APPROVED', { authorAssociation: 'OWNER' }),
      review('helper', 'APPROVED', { author: { __typename: 'Bot', login: 'helper' } }),
      review('gone', 'APPROVED', { author: null }),
      review('dora', 'APPROVED'),
    );
    const permissions = async (more: { readonly readsAdmins?: true }) => {
      const { world, receive, advance } = scriptedGithub(more);
      world.pulls.set(1, pull(1, 'one', given));
      const [record] = (await receive(opened())).changes;
      const facts = Object(record?.facts).reviews.map(Object);
      const asked = () =>
        world.requests.filter(each => each === 'repos/get-collaborator-permission-level').length;
      const first = asked();
      await receive(pushed());
      const again = asked() - first;
      advance(3_600_000);
      await receive(pushed());
      const administrators = facts.flatMap((each: { by: string; permission: string }) =>
        each.permission === 'admin' ? [each.by] : [],
      );
      return { administrators, asked: [first, again, asked() - first] };
    };
    expect(await permissions({})).toEqual({ administrators: ['carol'], asked: [0, 0, 0] });
    expect(await permissions({ readsAdmins: true })).toEqual({
      administrators: ['ada', 'carol'],
      asked: [3, 0, 3],
    });
  });

  test('whose reviewers cannot be asked about is read later', async () => {
    const { world, process, eventOf, source } = scriptedGithub({ readsAdmins: true });
    world.pulls.set(1, pull(1, 'one', reviews(review('frank', 'APPROVED'))));
    expect(await process(eventOf(opened()))).toMatchObject({
      later: { reason: 'denied', text: expect.stringContaining('permissions of reviewers') },
    });
    await expect(source.fetchChange(changeKey(APP, '1'), AbortSignal.timeout(5_000))).rejects.toMatchObject({
      retryable: true,
    });
  });

  test('that has 150 statuses has them all (31)', async () => {
    const { world, receive } = scriptedGithub();
    const nodes = Array.from({ length: 150 }, (_, index) => status(`job-${index}`, 'SUCCESS'));
    world.pulls.set(1, pull(1, 'one', contexts('one', ...nodes)));
    world.moreContexts = nodes.slice(100);
    const [record] = (await receive(opened())).changes;
    expect(record?.facts).toMatchObject({ contexts: { length: 150 } });
    expect(world.requests).toEqual(['pull-state', 'more-contexts', 'repos/get-branch-rules']);
  });

  test('that has 90 statuses reports some at a time, each once', async () => {
    const { world, receive } = scriptedGithub();
    const nodes = Array.from({ length: 90 }, (_, index) => status(`job-${index}`, 'SUCCESS'));
    world.pulls.set(1, pull(1, 'one', contexts('one', ...nodes)));
    const lines: string[] = [];
    let next: Notification | undefined = opened();
    let readings = 0;
    for (; next !== undefined && readings < 10; readings++) {
      const found = await receive(next);
      expect(found.events.length).toBeLessThanOrEqual(31);
      lines.push(...eventLines(found).filter(line => line.includes('job-')));
      next = found.again && readGithubNotification(found.again.payload);
    }
    expect(readings).toBe(3);
    expect(new Set(lines).size).toBe(90);
    expect(lines).toHaveLength(90);
  });

  test('older than the first reading is reported as the webhook says, and not as opened', async () => {
    const { world, receive } = scriptedGithub();
    const more = {
      ...labels('gate', 'doc'),
      ...reviews(review('bob', 'APPROVED'), review('carol', 'APPROVED')),
      ...contexts('one', status('a', 'SUCCESS')),
    };
    world.pulls.set(1, pull(1, 'one', more));
    const submitted = aboutPull(1, { review: 'approved', once: 'review-4-approved' });
    const processed = await receive(webhook('pull_request_review', 'submitted', submitted));
    expect(eventLines(processed)).toEqual(['pull_request_review submitted approved by bob']);
  });

  test('made since the repository was first seen is opened by the first event that comes', async () => {
    const { world, receive } = scriptedGithub();
    world.pulls.set(1, pull(1, 'one'));
    await receive(opened());
    world.pulls.set(2, pull(2, 'two', reviews(review('bob', 'APPROVED'))));
    const submitted = aboutPull(2, { review: 'approved', once: 'review-4-approved' });
    expect(eventLines(await receive(webhook('pull_request_review', 'submitted', submitted)))).toEqual([
      'pull_request opened',
      'pull_request_review submitted approved by bob',
    ]);
    expect(eventLines(await receive(webhook('pull_request', 'opened', aboutPull(2))))).toEqual([]);
  });

  test('that a listing found is opened when it is new, and only read when it is not', async () => {
    const { world, receive } = scriptedGithub();
    const older = pull(2, 'two', { createdAt: '2025-12-01T00:00:00Z' });
    world.pulls.set(1, pull(1, 'one')).set(2, older);
    const found = (number: number, isNew: boolean) =>
      receive(webhook('sweep', '', aboutPull(number, { isNew }), ''));
    expect(eventLines(await found(1, true))).toEqual(['pull_request opened']);
    expect(await found(2, false)).toMatchObject({ events: [], updated: ['github/acme/app#2'] });
    expect(eventLines(await found(1, true))).toEqual([]);
  });

  test('of a repository that no tenant has costs no request (8)', async () => {
    const { world, receive } = scriptedGithub();
    world.projects = new Set();
    expect(await receive(opened())).toMatchObject({
      events: [],
      discarded: expect.stringContaining('no tenant'),
    });
    expect(world.requests).toEqual([]);
  });

  test('of a repository that was renamed is discarded with both names (25)', async () => {
    const { world, receive } = scriptedGithub();
    world.name = 'acme/application';
    const discarded = expect.stringMatching(/acme\/app is named acme\/application/);
    expect(await receive(opened())).toMatchObject({ events: [], changes: [], discarded });
    const renamed = webhook('repository', 'renamed', { kind: 'repository', formerName: 'acme/app' });
    expect(await receive({ ...renamed, repository: 'acme/application' })).toMatchObject({ discarded });
  });
});

describe('a comment', () => {
  test('is one event, in any number of deliveries (20)', async () => {
    const { world, receive } = scriptedGithub();
    world.pulls.set(1, pull(1, 'one'));
    await receive(opened());
    expect(eventLines(await receive(comment(5, 'recheck')))).toEqual(['pull_request comment recheck by eve']);
    const requests = world.requests.length;
    expect(await receive(comment(5, 'recheck'))).toMatchObject({ events: [], discarded: expect.any(String) });
    expect(world.requests).toHaveLength(requests);
    expect(eventLines(await receive(comment(4, 'swapped')))).toEqual(['pull_request comment swapped by eve']);
  });

  test('of our own is no event and costs no query (20)', async () => {
    const { world, receive } = scriptedGithub();
    world.pulls.set(1, pull(1, 'one'));
    expect(eventLines(await receive(comment(5, 'recheck', 'gatehouse[bot]')))).toEqual([]);
    expect(world.requests).toEqual([]);
  });

  test('that is replayed after hundreds of others is still known, in a memory of 2 KB', async () => {
    const { world, receive } = scriptedGithub();
    world.pulls.set(1, pull(1, 'one'));
    for (let id = 1; id <= 100; id += 1) await receive(comment(id, 'again'));
    expect(eventLines(await receive(comment(3, 'again')))).toEqual([]);
    expect(JSON.stringify(world.memory.get('pull/acme/app/1')).length).toBeLessThan(2_048);
  });
});

describe('a review', () => {
  test.each([{ listed: true }, { listed: false }])(
    'that was dismissed is no opinion any more, listed: $listed (28)',
    async ({ listed }) => {
      const { world, receive } = scriptedGithub();
      const approved = review('bob', 'APPROVED');
      world.pulls.set(1, pull(1, 'one', reviews(approved, review('derp', 'CHANGES_REQUESTED'))));
      await receive(opened());
      world.pulls.set(1, pull(1, 'one', reviews(approved, ...(listed ? [review('derp', 'DISMISSED')] : []))));
      const processed = await receive(webhook('pull_request_review', 'dismissed', aboutPull(1), 'carol'));
      expect(eventLines(processed)).toEqual(['pull_request_review dismissed dismissed by carol']);
      const facts = { reviews: [{ by: 'bob', state: 'approved', permission: 'write' }] };
      expect(processed.changes).toMatchObject([{ facts }]);
    },
  );

  test('of a reader is one of a reader', async () => {
    const { world, receive } = scriptedGithub();
    world.pulls.set(1, pull(1, 'one', reviews(review('eve', 'APPROVED'))));
    const facts = { reviews: [{ by: 'eve', permission: 'read' }] };
    expect((await receive(opened())).changes).toMatchObject([{ facts }]);
  });
});

describe('an answer', () => {
  test('older than its webhook is asked for again, four times, and then taken', async () => {
    const { world, eventOf, process } = scriptedGithub();
    world.pulls.set(1, pull(1, 'one'));
    const labeled = aboutPull(1, { label: 'gate', updatedAt: NOW + 1_000 });
    const event = eventOf(webhook('pull_request', 'labeled', labeled));
    for (const pause of [500, 1_000, 2_000, 4_000]) {
      const later = { text: expect.stringContaining('older'), notBefore: `${NOW + pause}000000` };
      expect(await process(event)).toMatchObject({ later });
    }
    expect(await process(event)).toMatchObject({ events: [] });
  });

  test('that came in time after all is processed', async () => {
    const { world, eventOf, process } = scriptedGithub();
    const event = eventOf(opened());
    expect(await process(event)).toHaveProperty('later');
    world.pulls.set(1, pull(1, 'one'));
    expect(await process(event)).toMatchObject({ events: [{ type: 'pull_request' }] });
  });

  test('that is a limit postpones the event, and nothing is remembered', async () => {
    const { world, eventOf, process } = scriptedGithub();
    world.failure = { kind: 'later', later: { reason: 'limited', text: 'limited' } };
    expect(await process(eventOf(opened()))).toMatchObject({ later: { reason: 'limited' } });
    expect(world.memory.size).toBe(0);
  });

  test('that refuses addresses of profiles is asked for without them from then on', async () => {
    const { world, process, eventOf } = scriptedGithub();
    const text = "The 'email' field requires one of the following scopes: ['user:email']";
    world.failure = { kind: 'refused', status: 200, text, errors: [] };
    expect(await process(eventOf(opened()))).toMatchObject({ later: { reason: 'denied' } });
    expect(world.requests).toEqual(['pull-state', 'pull-state']);
    await process(eventOf(opened()));
    expect(world.requests).toHaveLength(3);
  });
});

describe('a pull request that was merged', () => {
  const merged = (actor: string, more = {}) =>
    webhook('pull_request', 'closed', aboutPull(1, { base: 'main', mergedHead: sha('one'), ...more }), actor);

  async function openedAt() {
    const github = scriptedGithub();
    github.world.pulls.set(1, pull(1, 'one', labels('gate')));
    await github.receive(opened());
    github.world.pulls.set(1, pull(1, 'one', { ...labels('gate'), state: 'MERGED' }));
    github.world.requests.length = 0;
    return github;
  }

  test('by us is closed as one that is read is, without a request', async () => {
    const [known, asked] = [await openedAt(), await openedAt()];
    const first = await known.receive(merged('gatehouse[bot]'));
    const second = await asked.receive(merged('bob'));
    expect([known.world.requests, asked.world.requests]).toEqual([[], ['pull-state']]);
    expect(eventLines(first)).toEqual(['pull_request closed by gatehouse[bot]']);
    expect(eventLines(second)).toEqual(['pull_request closed by bob']);
    expect(first.changes).toEqual(second.changes);
    expect(first.memory.map(({ key }) => key)).toEqual(second.memory.map(({ key }) => key));
    for (const { world, receive } of [known, asked]) {
      world.requests.length = 0;
      const ended = webhook('status', '', { kind: 'commit', commit: sha('one') });
      expect((await receive(ended)).events).toEqual([]);
      expect((await receive(merged('gatehouse[bot]'))).events).toEqual([]);
      expect(world.requests).toEqual([]);
    }
  });

  test.each([
    ['with another head than is known', { mergedHead: sha('two') }],
    ['into another branch than is known', { base: 'stable' }],
  ])('by us is read %s', async (_what, more) => {
    const { world, receive } = await openedAt();
    expect(eventLines(await receive(merged('gatehouse[bot]', more)))).toEqual([
      'pull_request closed by gatehouse[bot]',
    ]);
    expect(world.requests).toContain('pull-state');
  });

  test('by us is read where nothing is known of it', async () => {
    const { world, receive } = scriptedGithub();
    world.pulls.set(1, pull(1, 'one', { state: 'MERGED' }));
    expect(eventLines(await receive(merged('gatehouse[bot]')))).toEqual([
      'pull_request closed by gatehouse[bot]',
    ]);
    expect(world.requests).toContain('pull-state');
  });
});

describe('what is remembered of closed pull requests', () => {
  test('is forgotten when others of the same part of the index have closed since, and a late event of one reports nothing', async () => {
    const { world, receive } = scriptedGithub();
    const part = (number: number) => sha256(String(number)).slice(0, 2);
    const numbers = Array.from({ length: 6_000 }, (_, index) => index + 1)
      .filter(number => part(number) === part(1))
      .slice(0, 10);
    const pulls = () => [...world.memory.keys()].filter(key => key.startsWith('pull/'));
    for (const number of numbers) {
      world.pulls.set(number, pull(number, `head-${number}`));
      await receive(webhook('pull_request', 'opened', aboutPull(number), 'alice'));
    }
    expect(pulls()).toHaveLength(10);
    for (const number of numbers) {
      world.pulls.set(number, pull(number, `head-${number}`, { state: 'CLOSED' }));
      await receive(webhook('pull_request', 'closed', aboutPull(number), 'alice'));
    }
    expect(pulls()).toEqual(numbers.slice(2).map(number => `pull/acme/app/${number}`));
    const late = webhook('pull_request', 'labeled', aboutPull(1), 'alice');
    expect(await receive(late)).toMatchObject({ events: [] });
  });
});
