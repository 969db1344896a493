/** A host over HTTP that demands a header: real git gets it through its environment, and through nothing else. */
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { findRemote } from '../../../../src/driver/find-remote.ts';
import { connect, openGitHost } from '../../../conformance/driver/git-host.ts';
import { startGitHttpHost } from '../../../fake/git-http-host.ts';

const PASSWORD = 'p:ss wörd';
const HEADER = `Basic ${Buffer.from(`ci:${PASSWORD}`).toString('base64')}`;

afterEach(() => void vi.unstubAllEnvs());

/** A git that writes down how it was called. @returns that file. */
async function noteCalls(folder: string): Promise<string> {
  const real = process.env.PATH ?? '';
  const file = join(folder, 'calls');
  const shim = join(folder, 'git');
  await writeFile(shim, `#!/bin/sh\necho "$*" >>'${file}'\nPATH='${real}' exec git "$@"\n`);
  await chmod(shim, 0o755);
  vi.stubEnv('PATH', `${folder}:${real}`);
  return file;
}

test('a password reaches the host as a header, and stands neither in the URL nor in an argument list', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-guarded-'));
  await using cleanup = new AsyncDisposableStack();
  cleanup.defer(() => rm(folder, { recursive: true, force: true }));
  const calls = await noteCalls(folder);
  const projects = cleanup.use(await openGitHost());
  const web = cleanup.use(await startGitHttpHost(projects.base));
  web.ail(({ authorization }) => (authorization === HEADER ? undefined : { kind: 'status', status: 401 }));
  const written = { baseurl: web.url, http_user: 'ci', http_password: PASSWORD, poll_interval: '0' };
  const connection = await connect(written, projects.repositories, []);
  const [project] = projects.projects;

  const branches = await connection.source.branches(project, AbortSignal.timeout(20_000));
  expect(branches.map(({ branch }) => branch)).toEqual(['main']);
  const remote = await findRemote(new Map([['local', connection]]))(project);
  expect(remote).toMatchObject({ url: `${web.url}/acme/app`, headers: [`Authorization: ${HEADER}`] });
  expect(connection.publicUrl(project)).toBe(`${web.url}/acme/app`);
  expect(web.requests.every(({ ailment }) => ailment === 'none')).toBe(true);

  const argumentLists = await readFile(calls, 'utf8');
  expect(argumentLists).toContain(`${web.url}/acme/app`);
  for (const shape of [PASSWORD, HEADER, HEADER.slice('Basic '.length)])
    expect(argumentLists).not.toContain(shape);
});

test('without the password the host refuses access, and the error repeats no password', async () => {
  await using cleanup = new AsyncDisposableStack();
  const projects = cleanup.use(await openGitHost());
  const web = cleanup.use(await startGitHttpHost(projects.base));
  web.ail(({ authorization }) => (authorization === HEADER ? undefined : { kind: 'status', status: 401 }));
  const written = { baseurl: web.url, http_password: 'canary', poll_interval: '0' };
  const connection = await connect(written, projects.repositories, []);
  const refused = await connection.source
    .branches(projects.projects[0], AbortSignal.timeout(20_000))
    .catch((error: unknown) => String(error));
  expect(refused).toContain('HostFailed');
  expect(refused).not.toContain('canary');
  expect(refused).not.toContain(Buffer.from('git:canary').toString('base64'));
});

test('a connection that gives no access now is trouble of the host', async () => {
  const remote = () => Promise.reject(new Error('https://ci:secret@tokens.example.org: no answer'));
  const find = findRemote(new Map([['local', { remote }]]));
  await using host = await openGitHost();
  expect(await find(host.projects[0])).toEqual({
    trouble: {
      project: host.projects[0],
      reason: 'other',
      text: 'Error: https://***@tokens.example.org: no answer',
    },
  });
});
