/** What the driver relies on, asked of a real Gerrit: seen to hold for 3.5.6, 3.9.4 and 3.13.5. Comments name where captures of 3.2 differ. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHANGE_OPTIONS, type ChangeInfo, readChangeInfo } from '../../../drivers/gerrit/api/change-info.ts';
import { reduceGerritEvent } from '../../../drivers/gerrit/intake/reduce.ts';
import type { Json } from '../../../src/model/job.ts';
import { type Account, askWell, type Reply } from './account.ts';
import type { PushedChange } from './deeds.ts';
import { openEventStream } from './event-stream.ts';
import { hasSubmitRequirements } from './project-config.ts';
import { type GerritOfTests, startGerrit } from './start-gerrit.ts';

let gerrit: GerritOfTests;
beforeAll(async () => {
  gerrit = await startGerrit();
});
afterAll(() => gerrit?.[Symbol.asyncDispose]());

const ready = { 'Code-Review': 2, Workflow: 1 };

async function read(change: PushedChange, by: Account = gerrit.ci): Promise<ChangeInfo> {
  const known = CHANGE_OPTIONS.filter(
    option => option !== 'SUBMIT_REQUIREMENTS' || hasSubmitRequirements(gerrit.version),
  );
  const options = known.map(option => `o=${option}`).join('&');
  const json = await askWell(gerrit.ask, by, 'GET', `changes/${change.number}/detail?${options}`);
  const info = readChangeInfo(json);
  if (info === undefined) throw new Error(`not a ChangeInfo: ${JSON.stringify(json)}`);
  return info;
}

function review({ number, commit }: PushedChange, by: Account, body: Json): Promise<Reply> {
  return gerrit.ask(by, 'POST', `changes/${number}/revisions/${commit}/review`, body);
}

function submit({ number, commit }: PushedChange, by = gerrit.ci): Promise<Reply> {
  return gerrit.ask(by, 'POST', `changes/${number}/revisions/${commit}/submit`, {});
}

/** With every vote that it needs. */
async function approved(subject: string, on?: PushedChange): Promise<PushedChange> {
  const change = await gerrit.push({ by: gerrit.alice, subject, ...(on === undefined ? {} : { on }) });
  await gerrit.vote(change, gerrit.bob, ready);
  await gerrit.vote(change, gerrit.ci, { Verified: 2 });
  return change;
}

describe('a reading of a change', () => {
  test('has people, patch set, labels and messages', async () => {
    const change = await gerrit.push({ by: gerrit.alice, subject: 'Log in', options: 'topic=t1,hashtag=h1' });
    await gerrit.vote(change, gerrit.bob, ready);
    await gerrit.comment(change, gerrit.bob, 'recheck');
    const info = await read(change);
    expect(info).toMatchObject({
      ...{ number: change.number, project: change.project, branch: 'master', changeId: change.changeId },
      ...{ subject: 'Log in', status: 'NEW', topic: 't1', hashtags: ['h1'], wip: false, private: false },
      owner: { username: gerrit.alice.username, email: expect.stringContaining('@example.org') },
      submitType: 'MERGE_IF_NECESSARY',
      submittable: false,
      revision: { commit: change.commit, number: 1, uploader: { username: gerrit.alice.username } },
    });
    expect(info.messages.map(({ author, text }) => [author?.username, text])).toEqual([
      // `Uploaded patch set 1.`, unless the push also set a hashtag: newer ones then say only that.
      [gerrit.alice.username, expect.any(String)],
      [gerrit.bob.username, expect.stringMatching(/^Patch Set 1: (Code-Review\+2|Workflow\+1)/)],
      [gerrit.bob.username, 'Patch Set 1:\n\nrecheck'],
    ]);
    const verified = info.labels.find(({ name }) => name === 'Verified');
    expect(verified?.permitted).toEqual([-2, -1, 0, 1, 2]);
  });

  test('says which requirement is not met', async () => {
    const change = await gerrit.push({ by: gerrit.alice, subject: 'Requirements' });
    const { submitRequirements, submitRecords } = await read(change);
    // Since 3.6 the labels decide nothing: every label of the records is MAY then.
    if (hasSubmitRequirements(gerrit.version))
      expect(submitRequirements).toContainEqual(
        expect.objectContaining({ name: 'Verified', status: 'UNSATISFIED' }),
      );
    else
      expect(submitRecords?.flatMap(({ labels }) => labels)).toContainEqual({
        label: 'Verified',
        status: 'NEED',
      });
  });

  test('finds a change by the commit of any of its patch sets', async () => {
    const first = await gerrit.push({ by: gerrit.alice, subject: 'Two patch sets' });
    const second = await gerrit.push({ by: gerrit.alice, subject: 'Two patch sets', amends: first });
    expect(second.number).toBe(first.number);
    for (const { commit } of [first, second]) {
      const found = await askWell(gerrit.ask, gerrit.ci, 'GET', `changes/?q=commit:${commit}`);
      expect(found).toMatchObject([{ _number: first.number }]);
    }
    expect((await read(second)).revision).toMatchObject({ number: 2, commit: second.commit });
  });

  test('of a change that is not there, or is private, is 404', async () => {
    const hidden = await gerrit.push({ by: gerrit.alice, subject: 'Private', options: 'private' });
    for (const number of [hidden.number, 99_999])
      expect(await gerrit.ask(gerrit.ci, 'GET', `changes/${number}/detail`)).toMatchObject({
        status: 404,
        text: expect.stringContaining('Not found'),
      });
  });

  test('is listed by the time of its last update, page by page', async () => {
    const before = new Date(Date.now() - 1000).toISOString().slice(0, 19).replace('T', ' ');
    await gerrit.push({ by: gerrit.alice, subject: 'Listed one' });
    await gerrit.push({ by: gerrit.alice, subject: 'Listed two' });
    const question = `changes/?q=since:${encodeURIComponent(`"${before}"`)}&n=1`;
    const first = await askWell(gerrit.ask, gerrit.ci, 'GET', question);
    expect(first).toMatchObject([{ subject: 'Listed two', _more_changes: true }]);
    const second = await askWell(gerrit.ask, gerrit.ci, 'GET', `${question}&S=1`);
    expect(second).toMatchObject([{ subject: 'Listed one' }]);
  });

  test('has no work in progress unless it is', async () => {
    const change = await gerrit.push({ by: gerrit.alice, subject: 'Not yet', options: 'wip' });
    expect((await read(change)).wip).toBe(true);
    await gerrit.setWip(change, gerrit.alice, false);
    expect((await read(change)).wip).toBe(false);
  });
});

describe('a review', () => {
  test('keeps vote, message and tag, and answers with the labels it took', async () => {
    const change = await gerrit.push({ by: gerrit.alice, subject: 'Report' });
    const body = {
      message: 'Build succeeded',
      tag: 'autogenerated:gatehouse:check',
      labels: { Verified: 1 },
    };
    expect(await review(change, gerrit.ci, body)).toMatchObject({
      status: 200,
      json: { labels: { Verified: 1 } },
    });
    expect((await read(change)).messages.at(-1)).toMatchObject({
      tag: 'autogenerated:gatehouse:check',
      text: 'Patch Set 1: Verified+1\n\nBuild succeeded',
      author: { username: gerrit.ci.username },
    });
  });

  test('drops a label that there is not, and delivers the message', async () => {
    const change = await gerrit.push({ by: gerrit.alice, subject: 'Unknown label' });
    const reply = await review(change, gerrit.ci, { message: 'said', labels: { Nope: 1 } });
    expect(reply).toMatchObject({ status: 200, json: { labels: {} } });
    expect((await read(change)).messages.at(-1)?.text).toContain('said');
  });

  test('with a vote that the account may not give is refused as a whole', async () => {
    const change = await gerrit.push({ by: gerrit.alice, subject: 'Not yours' });
    expect(await review(change, gerrit.alice, { message: 'x', labels: { Verified: 1 } })).toMatchObject({
      status: 403,
      text: expect.stringContaining('Applying label "Verified": 1 is restricted'),
    });
    expect((await read(change)).messages).toHaveLength(1);
  });

  test('of an older patch set is accepted, of an abandoned change not, of a merged one it is', async () => {
    const first = await gerrit.push({ by: gerrit.alice, subject: 'Older' });
    const second = await gerrit.push({ by: gerrit.alice, subject: 'Older', amends: first });
    expect(await review(first, gerrit.ci, { labels: { Verified: 1 } })).toMatchObject({ status: 200 });
    await gerrit.abandon(second, gerrit.alice);
    expect(await review(second, gerrit.ci, { labels: { Verified: 1 } })).toMatchObject({
      status: 409,
      text: expect.stringContaining('change is closed'),
    });
    const merged = await approved('Merged and voted');
    await gerrit.submit(merged, gerrit.ci);
    expect(await review(merged, gerrit.ci, { message: 'late' })).toMatchObject({ status: 200 });
  });
});

describe('a submit', () => {
  test('has happened when a reading says MERGED and the branch has moved', async () => {
    const change = await approved('Lands');
    const before = await gerrit.tip(change.project, gerrit.ci);
    // 3.2 answers NEW, later ones MERGED.
    expect(await submit(change)).toMatchObject({
      status: 200,
      json: { status: expect.stringMatching(/NEW|MERGED/) },
    });
    expect((await read(change)).status).toBe('MERGED');
    expect(await gerrit.tip(change.project, gerrit.ci)).not.toBe(before);
    expect(await submit(change)).toMatchObject({
      status: 409,
      text: expect.stringContaining('change is merged'),
    });
  });

  test('without a vote is 409 and names the change and what is missing', async () => {
    const change = await gerrit.push({ by: gerrit.alice, subject: 'Unverified' });
    await gerrit.vote(change, gerrit.bob, ready);
    const { status, text } = await submit(change);
    expect(status).toBe(409);
    expect(text).toMatch(/^Failed to submit 1 change due to the following problems:\n/);
    // 3.2: `needs Verified`; later: `submit requirement 'Verified' is unsatisfied`.
    expect(text).toMatch(new RegExp(`Change ${change.number}: .*Verified`));
  });

  test('behind a parent that is not ready names the parent', async () => {
    const parent = await gerrit.push({ by: gerrit.alice, subject: 'Parent' });
    const child = await approved('Child', parent);
    const { status, text } = await submit(child);
    expect(status).toBe(409);
    expect(text).toMatch(/^Failed to submit 2 changes/);
    expect(text).toMatch(new RegExp(`Change ${parent.number}: `));
  });

  test('takes the parents along', async () => {
    const parent = await approved('First of two');
    const child = await approved('Second of two', parent);
    expect((await submit(child)).status).toBe(200);
    expect([(await read(parent)).status, (await read(child)).status]).toEqual(['MERGED', 'MERGED']);
  });

  test('of work in progress, an abandoned change, a conflict, or without the right is refused', async () => {
    const wip = await approved('In progress');
    await gerrit.setWip(wip, gerrit.alice, true);
    expect(await submit(wip)).toMatchObject({
      status: 409,
      text: expect.stringMatching(/is work in progress|is marked work in progress/),
    });
    const abandoned = await approved('Abandoned');
    await gerrit.abandon(abandoned, gerrit.alice);
    expect(await submit(abandoned)).toMatchObject({
      status: 409,
      text: expect.stringContaining('change is abandoned'),
    });
    const files = { 'conflict.txt': 'ours\n' };
    const conflicting = await gerrit.push({ by: gerrit.alice, subject: 'Conflict', files });
    await gerrit.pushBranch(gerrit.admin, conflicting.project, { 'conflict.txt': 'theirs\n' });
    await gerrit.vote(conflicting, gerrit.bob, ready);
    await gerrit.vote(conflicting, gerrit.ci, { Verified: 2 });
    expect(await submit(conflicting)).toMatchObject({
      status: 409,
      text: expect.stringMatching(/could not be merged due to a path conflict|merge conflict/),
    });
    const fine = await approved('No right');
    expect(await submit(fine, gerrit.bob)).toMatchObject({
      status: 403,
      text: expect.stringMatching(/submit not permitted/),
    });
  });

  test.each([
    ['MERGE_ALWAYS', 2],
    ['REBASE_ALWAYS', 1],
    ['CHERRY_PICK', 1],
    ['FAST_FORWARD_ONLY', 1],
  ])('of a project with %s lands a commit with %i parents', async (submitType, parents) => {
    const name = `acme/${submitType.toLowerCase()}`;
    await gerrit.createProject(name, { submitType });
    const change = await gerrit.push({ by: gerrit.alice, subject: submitType, project: name });
    await gerrit.vote(change, gerrit.bob, ready);
    await gerrit.vote(change, gerrit.ci, { Verified: 2 });
    expect((await read(change)).submitType).toBe(submitType);
    expect(await submit(change)).toMatchObject({ status: 200 });
    const tip = await gerrit.tip(change.project, gerrit.ci);
    const path = `projects/${encodeURIComponent(change.project)}/commits/${tip}`;
    const commit = await askWell(gerrit.ask, gerrit.ci, 'GET', path);
    expect(commit).toMatchObject({ parents: { length: parents } });
    expect(tip === change.commit).toBe(submitType === 'FAST_FORWARD_ONLY');
  });
});

describe('the stream of events', () => {
  const typeOf = (event: Json) => (isRecord(event) ? event.type : undefined);
  const isAbout = (type: string, change: PushedChange) => (event: Json) =>
    typeOf(event) === type && JSON.stringify(event).includes(`"number":${change.number},`);

  test('has every event in the form that the driver reduces', async () => {
    await using stream = await openEventStream(gerrit.ssh, gerrit.ci);
    const change = await gerrit.push({ by: gerrit.alice, subject: 'Streamed' });
    await stream.first(isAbout('patchset-created', change));
    await gerrit.vote(change, gerrit.bob, ready);
    await gerrit.setWip(change, gerrit.alice, true);
    await stream.first(isAbout('wip-state-changed', change));
    await gerrit.setWip(change, gerrit.alice, false);
    await gerrit.vote(change, gerrit.ci, { Verified: 2 });
    await gerrit.submit(change, gerrit.ci);
    await stream.first(isAbout('change-merged', change));
    const kinds = new Set(stream.events.map(typeOf));
    for (const type of [
      'ref-updated',
      'patchset-created',
      'comment-added',
      'wip-state-changed',
      'change-merged',
    ])
      expect(kinds).toContain(type);
    const broken = stream.events.filter(event => reduceGerritEvent(event, 'stream').kind === 'broken');
    expect(broken).toEqual([]);
  });

  test('has nothing of what happened without a listener', async () => {
    const first = await openEventStream(gerrit.ssh, gerrit.ci);
    await first[Symbol.asyncDispose]();
    const missed = await gerrit.push({ by: gerrit.alice, subject: 'Missed' });
    await using second = await openEventStream(gerrit.ssh, gerrit.ci);
    const seen = await gerrit.push({ by: gerrit.alice, subject: 'Seen' });
    await second.first(isAbout('patchset-created', seen));
    expect(second.events.filter(isAbout('patchset-created', missed))).toEqual([]);
  });

  test('is refused to an account without the capability, with a sentence', async () => {
    await using stream = await openEventStream(gerrit.ssh, gerrit.alice);
    await stream.closed;
    expect(stream.refusal()).toContain('stream events not permitted');
  });

  test('closes when Gerrit is restarted, which loses no change', async context => {
    const { stop, start } = gerrit;
    if (stop === undefined || start === undefined) return context.skip('this Gerrit is not ours to restart');
    const change = await approved('Survives');
    await using stream = await openEventStream(gerrit.ssh, gerrit.ci);
    await stop();
    await stream.closed;
    await start();
    expect(await read(change)).toMatchObject({ status: 'NEW', submittable: true });
    await using again = await openEventStream(gerrit.ssh, gerrit.ci);
    expect((await submit(change)).status).toBe(200);
    await again.first(isAbout('change-merged', change));
  });
});

test('the account learns its capabilities and the version', async () => {
  const capabilities = await askWell(gerrit.ask, gerrit.ci, 'GET', 'accounts/self/capabilities');
  expect(capabilities).toMatchObject({ streamEvents: true });
  const ofAlice = await askWell(gerrit.ask, gerrit.alice, 'GET', 'accounts/self/capabilities');
  expect(ofAlice).not.toHaveProperty('streamEvents');
  expect(gerrit.version).toMatch(/^\d+\.\d+/);
});

function isRecord(json: Json): json is { readonly [name: string]: Json } {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}
