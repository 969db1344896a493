/** What `gatehouse autohold` prints, and what it asks for. */
import { expect, test } from 'vitest';
import { runProgram } from '../../../src/cmd/commands/program.ts';
import { cannedService } from './canned-service.ts';
import { recordingIo } from './fixture.ts';

const HOLDS = '/api/tenant/main/autohold';
const hold = (more: object) => ({
  ...{ id: '0000000003', tenant: 'main', project: 'git.example.org/acme/app', job: 'unit-tests' },
  ...{ ref_filter: '.*', max_count: 2, current_count: 0, reason: 'why does it fail?', node_expiration: 0 },
  ...{ expired: null, nodes: [], gatehouse: { by: 'command line', at: 1_795_000_000, held: [] } },
  ...more,
});

async function autohold(answer: unknown, ...args: readonly string[]) {
  await using service = await cannedService();
  service.answer('/api/tenants', [{ name: 'main' }]);
  service.answer(HOLDS, answer);
  service.answer(`${HOLDS}/0000000003`, answer);
  service.answer('/api/tenant/main/project/acme/app/autohold', true);
  const io = recordingIo({ GATEHOUSE_URL: service.url, DO_NOT_TRACK: '1' });
  const door = args[0] === 'request' ? ['--config', service.config] : [];
  const status = await runProgram(['autohold', ...args, ...door], io);
  return { status, text: `${io.out()}${io.err()}`, requests: service.requests };
}

test('requests are listed with what they are about, how long they hold, and what they hold now', async () => {
  const build = '7d1e1f0a6c3b4f2e9a5d0c8b7e6f5a41';
  const other = '0a6c3b4f2e9a5d0c8b7e6f5a417d1e1f';
  const workspace = { executor: 'ci1', path: `/jobs/.held/main-0000000004-${other}`, bytes: 4096 };
  const { status, text } = await autohold(
    [
      hold({}),
      hold({
        ...{ id: '0000000004', ref_filter: 'change master/login', max_count: 1, current_count: 1 },
        ...{
          node_expiration: 86_400,
          reason: 'bad\u001b[2Jword',
          nodes: [
            { build, nodes: ['web1', 'web2'] },
            { build: other, nodes: [] },
          ],
          gatehouse: {
            ...{ by: 'command line', at: 1_795_000_000 },
            // The first as services before 0.4 had it.
            held: [
              { build, since: 1_795_000_100, until: null },
              { build: other, since: 1_795_000_200, until: null, workspace },
            ],
          },
        },
      }),
    ],
    'list',
  );
  expect(status).toBe(0);
  expect(text).toBe(`\
0000000003  unit-tests of git.example.org/acme/app, 0 of 2, each until it is deleted
    why does it fail? (command line)
0000000004  unit-tests of git.example.org/acme/app (change master/login), 1 of 1, each for 24h 00m
    bad�[2Jword (command line)
    build ${build}: web1, web2
    build ${other}: workspace ${workspace.path} of ci1
`);
  expect((await autohold([], 'list')).text).toBe('no hold requests\n');
});

test('one request is shown alone, and as it is with --json', async () => {
  const { text } = await autohold(hold({}), 'info', '0000000003');
  expect(text).toMatch(/^0000000003 {2}unit-tests of .*\n {4}why does it fail\? \(command line\)\n$/);
  expect(JSON.parse((await autohold(hold({}), 'info', '0000000003', '--json')).text)).toEqual(hold({}));
});

test('a request names its filter, and leaves it to the service how long hosts are held', async () => {
  const asked = ['request', 'acme/app', '--job', 'unit-tests', '--reason', 'look'];
  const { text, requests } = await autohold([], ...asked, '--change', 'master/login');
  expect(text).toBe('hosts of unit-tests, or its workspace, are held when it fails\n');
  expect(JSON.parse(requests.at(-1)?.body ?? '')).toEqual({
    ...{ job: 'unit-tests', reason: 'look', change: 'master/login', count: 1, node_hold_expiration: null },
  });
  const bounded = await autohold([], ...asked, '--node-hold-expiration', '60');
  expect(JSON.parse(bounded.requests.at(-1)?.body ?? '')).toMatchObject({ node_hold_expiration: 60 });
});
