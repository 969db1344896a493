import { describe, expect, it } from 'vitest';
import type { GerritAnswer, GerritApi } from '../../../../../drivers/gerrit/api/port.ts';
import { changesOfGerritTopic, createTopicSubmission } from '../../../../../drivers/gerrit/reading/topics.ts';
import type { Json } from '../../../../../src/model/job.ts';

const call = { project: 'acme/app', signal: new AbortController().signal };

function gerrit(answer: GerritAnswer<Json>) {
  const asked: string[] = [];
  const api: GerritApi = {
    async ask({ path }) {
      asked.push(decodeURIComponent(path));
      return answer;
    },
  };
  return { api, asked };
}

const ok = (data: Json): GerritAnswer<Json> => ({ kind: 'ok', status: 200, data });
const info = (number: number, status = 'NEW') => ({ _number: number, project: 'acme/app', status });

describe('the open changes of a topic', () => {
  const of = (topic: string, api: GerritApi) =>
    changesOfGerritTopic(topic, 2, call, { api, connection: 'gerrit' });

  it('are asked for with one query, and one more than are wanted', async () => {
    const { api, asked } = gerrit(ok([info(3), info(1, 'MERGED'), info(2)]));
    expect(await of('log in', api)).toMatchObject({
      data: { changes: ['gerrit/acme/app#3', 'gerrit/acme/app#2'], isMore: false },
    });
    expect(asked).toEqual(['changes/?q=status:open topic:"log in"&n=3']);
    const many = gerrit(ok([info(3), info(2), info(1)]));
    expect(await of('a', many.api)).toMatchObject({ data: { isMore: true } });
  });

  it('are asked for in quotes that the text does not have', async () => {
    const { api, asked } = gerrit(ok([]));
    await of('say "no"', api);
    await of('"{both}', api);
    expect(asked).toEqual(['changes/?q=status:open topic:{say "no"}&n=3']);
  });

  it('are not known while Gerrit is away', async () => {
    const later = { kind: 'later', later: { reason: 'other', text: 'away' } } as const;
    expect(await of('a', gerrit(later).api)).toEqual(later);
  });
});

it('asks every ten minutes whether Gerrit submits whole topics', async () => {
  let now = 0;
  const { api, asked } = gerrit(ok({ change: { submit_whole_topic: true } }));
  const { submitsTopics } = createTopicSubmission({ api, clock: { monotonic: () => now } });
  const answers = [await submitsTopics(call), await submitsTopics(call)];
  expect(answers.map(each => each.kind === 'ok' && each.data)).toEqual([true, true]);
  now += 600_000;
  await submitsTopics(call);
  expect(asked).toEqual(['config/server/info', 'config/server/info']);
  const noted: boolean[] = [];
  const off = createTopicSubmission({
    api: gerrit(ok({ change: {} })).api,
    clock: { monotonic: () => 0 },
    notedTopics: whole => void noted.push(whole),
  });
  expect(await off.submitsTopics(call)).toMatchObject({ data: false });
  expect(noted).toEqual([false]);
});
