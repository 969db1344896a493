import { expect, test } from 'vitest';
import type { GithubAnswer, GithubApi, GithubCall } from '../../../../../drivers/github/api/port.ts';
import { createGithubOnlineCheck } from '../../../../../drivers/github/online/check-online.ts';
import { APP_EVENTS, APP_PERMISSIONS } from '../../../../../drivers/github/permissions.ts';
import type { HostLater } from '../../../../../src/driver/host-later.ts';
import type { ProjectUse } from '../../../../../src/driver/online-check.ts';
import { addMilliseconds, systemClock } from '../../../../../src/lib/clock.ts';
import { Secret } from '../../../../../src/lib/secret.ts';
import { projectKey } from '../../../../../src/model/project.ts';

const clock = systemClock();
const signal = () => AbortSignal.timeout(20_000);

function useOf(name: string): ProjectUse {
  return { project: projectKey({ connection: 'github', name }), defaultBranches: [], pipelines: [] };
}
const USES = Array.from({ length: 40 }, (_, index) => useOf(`acme/p${index}`));

type Answers = (operation: string, call: GithubCall) => Promise<GithubAnswer<never> | undefined>;

/** A GitHub that grants everything, except where `answers` says otherwise; with the requests it got. */
function hostOf(answers: Answers) {
  const asked: string[] = [];
  let most = 0;
  let open = 0;
  async function ask(operation: string, call: GithubCall, data: unknown) {
    asked.push(`${operation} ${call.repository}`);
    open += 1;
    most = Math.max(most, open);
    await Promise.resolve();
    try {
      return ((await answers(operation, call)) ?? { kind: 'ok', status: 200, data }) as GithubAnswer<never>;
    } finally {
      open -= 1;
    }
  }
  const permissions = Object.fromEntries(APP_PERMISSIONS.map(({ name, level }) => [name, level]));
  const api: GithubApi = {
    rest: (operation, _route, _parameters, call) =>
      ask(operation, call, operation.startsWith('repos/') ? [] : HOOK_AND_APP),
    graphql: (operation, _query, { owner, name }, call) =>
      ask(operation, call, { repository: { ...REPOSITORY, nameWithOwner: `${owner}/${name}` } }),
    identity: async call =>
      (await answers('identity', call)) ?? {
        ...{ kind: 'ok', status: 200 },
        data: { login: 'gatehouse[bot]', app: { id: 7, slug: 'gatehouse' }, permissions },
      },
  };
  return { api, asked, mostOpen: () => most };
}

const HOOK_AND_APP = {
  events: APP_EVENTS,
  url: 'https://gate.example.org/api/connection/github/payload',
  content_type: 'json',
};
const REPOSITORY = {
  ...{ isArchived: false, mergeCommitAllowed: true, squashMergeAllowed: true, rebaseMergeAllowed: true },
  ...{ viewerPermission: null, defaultBranchRef: { name: 'main', branchProtectionRule: null } },
};

function checkOf(answers: Answers, waits: number[] = [], answerWithin = 10_000) {
  const host = hostOf(answers);
  const options = { landing: 'push', webhookTokens: [new Secret('token')], adminReviews: false } as const;
  const check = createGithubOnlineCheck('github', options, {
    ...{ api: host.api, clock, answerWithin },
    wait: ms => Promise.resolve(void waits.push(ms)),
  });
  return { ...host, check };
}

const later = (facts: Partial<HostLater>) =>
  ({ kind: 'later', later: { reason: 'limited', text: 'GitHub limits', ...facts } }) as const;

test('many repositories are asked about a few at a time', async () => {
  const { check, asked, mostOpen } = checkOf(async () => undefined);
  expect(await check(USES, signal())).toEqual([]);
  expect(asked.filter(each => each.startsWith('repository-state'))).toHaveLength(40);
  expect(mostOpen()).toBeLessThanOrEqual(8);
});

test('a limit that ends soon is waited for', async () => {
  const waits: number[] = [];
  let limited = 5;
  const { check } = checkOf(async operation => {
    if (operation !== 'repository-state' || limited === 0) return undefined;
    limited -= 1;
    return later({ notBefore: addMilliseconds(clock.now(), 60_000) });
  }, waits);
  expect(await check(USES, signal())).toEqual([]);
  expect(waits).toHaveLength(5);
  for (const ms of waits) expect(Math.abs(ms - 60_000)).toBeLessThan(20_000);
});

test('a limit that lasts ends the questions, and what was found before stays', async () => {
  const { check, asked } = checkOf(async (operation, { repository }) => {
    if (operation !== 'repository-state') return undefined;
    if (repository === 'acme/p0')
      return { kind: 'refused', status: 403, text: 'GitHub answered 403: no', errors: [] };
    return repository === 'acme/p20'
      ? later({ notBefore: addMilliseconds(clock.now(), 3_000_000) })
      : undefined;
  });
  const [first, ...others] = await check(USES, signal());
  expect(first).toEqual({
    ...{ severity: 'error', project: null },
    text: expect.stringMatching(/^GitHub could not be asked about \d+ of its 40 projects: GitHub limits$/),
  });
  expect(others).toEqual([{ severity: 'error', project: USES[0]?.project, text: 'GitHub answered 403: no' }]);
  expect(asked.length).toBeLessThan(2 + 3 * 30);
});

test('a host that hangs is asked no further, and is one finding', async () => {
  const hang = (call: GithubCall) =>
    new Promise<undefined>((_, reject) =>
      call.signal.addEventListener('abort', () => reject(call.signal.reason), { once: true }),
    );
  const begins = checkOf(async (_, call) => await hang(call), [], 20);
  expect(await begins.check(USES, signal())).toEqual([
    {
      ...{ severity: 'error', project: null },
      text: 'GitHub could not be asked about its 40 projects: no answer within 0.02 s',
    },
  ]);
  expect(begins.asked).toHaveLength(1);
  const later = checkOf(
    async (operation, call) => (operation === 'repository-state' ? await hang(call) : undefined),
    [],
    20,
  );
  expect(await later.check(USES, signal())).toHaveLength(1);
  expect(later.asked.length).toBeLessThanOrEqual(2 + 8);
});

test('a check that the user ends throws the reason of the end', async () => {
  const ending = new AbortController();
  const { check } = checkOf(async operation => {
    if (operation === 'repository-state') ending.abort(new Error('ended'));
    return undefined;
  });
  await expect(check(USES, ending.signal)).rejects.toThrow('ended');
});

test('an error that is no answer of the host is not taken for one', async () => {
  const { check } = checkOf(async operation => {
    if (operation === 'repository-state') throw new TypeError('a mistake');
    return undefined;
  });
  await expect(check(USES, signal())).rejects.toThrow('a mistake');
});
