/** Commands that change something say first what they would do. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ActCostDocument } from '../../../src/api/act-cost.ts';
import { runProgram } from '../../../src/cmd/commands/program.ts';
import { type CannedService, cannedService } from './canned-service.ts';
import { recordingIo } from './fixture.ts';

let service: CannedService;
const PATH = '/api/tenant/acme/project/acme/app/dequeue';
const NO_COUNTS = { reset: 0, left: 0, rerun: 0, paused: 0, resumed: 0 };
const COST: ActCostDocument = {
  text: 'takes out 1 item, resets 2 items and throws away 43 machine minutes',
  counts: { ...NO_COUNTS, left: 1, reset: 2 },
  machine_seconds: 2580,
  jobs: [],
  refusals: [],
  items: [
    { uuid: 'a'.repeat(32), pipeline: 'gate', change: 'acme/app 1', effect: 'left', machine_seconds: 2580 },
  ],
};

beforeAll(async () => {
  service = await cannedService();
});
afterAll(() => service[Symbol.asyncDispose]());
beforeEach(() => {
  service.answer('/api/tenants', [{ name: 'acme' }]);
  service.answer(PATH, true);
  service.answer(`${PATH}/dry-run`, COST);
});

/** @param says what the person answers; undefined: there is no terminal. */
async function dequeue(says: string | undefined, ...more: readonly string[]) {
  const first = service.requests.length;
  const questions: string[] = [];
  const ask = async (question: string) => {
    questions.push(question);
    return says ?? '';
  };
  const io = recordingIo({
    GATEHOUSE_URL: service.url,
    GATEHOUSE_CONFIG: service.config,
    OTEL_SDK_DISABLED: 'true',
  });
  const status = await runProgram(
    ['dequeue', 'acme/app', 'master/login', '--pipeline', 'gate', ...more],
    says === undefined ? io : { ...io, ask },
  );
  const posted = service.requests.slice(first).filter(({ path }) => path.startsWith(PATH));
  return {
    status,
    questions,
    out: io.out(),
    err: io.err(),
    posted: posted.map(({ path }) => path.slice(PATH.length)),
  };
}

test('on a terminal the person is asked, and yes lets it go on', async () => {
  const { status, questions, out, posted } = await dequeue('y');
  expect(questions).toEqual([
    'This takes out 1 item, resets 2 items and throws away 43 machine minutes. Go on? [y/N] ',
  ]);
  expect([status, out, posted]).toEqual([0, 'acme/app master/login leaves gate shortly\n', ['/dry-run', '']]);
});

test.each(['', 'n', 'yes please'])('any other answer, such as "%s", stops it', async says => {
  const { status, out, posted } = await dequeue(says);
  expect([status, out, posted]).toEqual([1, 'nothing was done\n', ['/dry-run']]);
});

test.each([['--yes'], ['--json']])('with %s nothing is asked', async option => {
  expect(await dequeue('n', option)).toMatchObject({ status: 0, questions: [], posted: [''] });
});

test('without a terminal nothing is asked', async () => {
  expect(await dequeue(undefined)).toMatchObject({ status: 0, posted: [''] });
});

test('what costs nothing is done without a question', async () => {
  service.answer(`${PATH}/dry-run`, { ...COST, text: 'resets nothing', counts: NO_COUNTS, items: [] });
  expect(await dequeue('n')).toMatchObject({ status: 0, questions: [], posted: ['/dry-run', ''] });
});

test('what would be refused is not done, and the refusal is printed', async () => {
  const refusals = ['bob asked to dequeue it while it is being reported'];
  service.answer(`${PATH}/dry-run`, { ...COST, text: 'resets nothing', items: [], refusals });
  const { status, out, posted } = await dequeue('y');
  expect([status, out, posted]).toEqual([1, `${refusals[0]}\n`, ['/dry-run']]);
});

test('a dry run only says it, as text or as the document', async () => {
  expect(await dequeue('y', '--dry-run')).toMatchObject({
    ...{ status: 0, questions: [], out: `${COST.text}\n`, posted: ['/dry-run'] },
  });
  const { out } = await dequeue(undefined, '--dry-run', '--json');
  expect(JSON.parse(out)).toEqual(COST);
});
