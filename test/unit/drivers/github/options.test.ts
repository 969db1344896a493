import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { readGithubOptions } from '../../../../drivers/github/options.ts';
import { optionReader, showOptionProblem } from '../../../../src/lib/option-reader.ts';

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const FILES: Readonly<Record<string, string>> = {
  '/etc/gatehouse/app.pem': rsa.export({ type: 'pkcs1', format: 'pem' }).toString(),
  '/etc/gatehouse/ed25519.pem': generateKeyPairSync('ed25519')
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString(),
  '/etc/gatehouse/token': 'hunter2\n',
  '/etc/gatehouse/empty': '\n',
};

function readFile(path: string): string {
  const text = FILES[path];
  if (text === undefined) throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
  return text;
}

function read(written: Readonly<Record<string, string>>) {
  const options = new Map(
    Object.entries(written).map(([option, value], index) => [
      option,
      { value, at: { file: 'gatehouse.conf', line: index + 2 } },
    ]),
  );
  const reader = optionReader({
    name: 'connection gh',
    at: { file: 'gatehouse.conf', line: 1 },
    options,
    directory: '/etc/gatehouse',
  });
  return {
    options: readGithubOptions(reader, readFile),
    problems: reader.finish().map(showOptionProblem),
  };
}

const APP = { app_id: '12', app_key: 'app.pem' };

describe('the options of a GitHub connection', () => {
  test('need a GitHub App only', () => {
    const { options, problems } = read(APP);
    expect(problems).toEqual([]);
    expect(options).toMatchObject({
      server: 'github.com',
      canonicalHostname: 'github.com',
      identification: { kind: 'app', id: 12 },
      webhookTokens: [],
      apiUrl: 'https://api.github.com',
      cloneUrl: 'https://github.com',
      landing: 'push',
      sweepInterval: 600,
    });
  });

  test('may lack the key of the App: executors and webs make no requests', () => {
    const { options, problems } = read({ app_id: '12' });
    expect(problems).toEqual([]);
    expect(options?.identification).toEqual({ kind: 'app-without-key', id: 12 });
  });

  test('take the key in the form Octokit needs, whichever form the file has', () => {
    const { options } = read(APP);
    if (options?.identification.kind !== 'app') return expect.unreachable('it is no App');
    expect(options.identification.key.reveal()).toMatch(/^-----BEGIN PRIVATE KEY-----/);
  });

  test('of an Enterprise Server have its addresses', () => {
    expect(read({ ...APP, server: 'GitHub.example.org' }).options).toMatchObject({
      server: 'github.example.org',
      apiUrl: 'https://github.example.org/api/v3',
      cloneUrl: 'https://github.example.org',
    });
  });

  test('take secrets from files, and two webhook tokens during a rotation', () => {
    const { options } = read({
      api_token_file: 'token',
      webhook_token_file: '/etc/gatehouse/token',
      webhook_token_previous: 'before',
    });
    expect(options?.webhookTokens.map(token => token.reveal())).toEqual(['hunter2', 'before']);
    if (options?.identification.kind !== 'token') return expect.unreachable('it is no token');
    expect(options.identification.token.reveal()).toBe('hunter2');
  });

  test('reach a host on this machine without TLS, and no other', () => {
    const urls = { api_url: 'http://127.0.0.1:8080', clone_url: 'http://localhost:8080/' };
    expect(read({ ...APP, ...urls }).options).toMatchObject({
      apiUrl: 'http://127.0.0.1:8080',
      cloneUrl: 'http://localhost:8080',
    });
    expect(read({ ...APP, api_url: 'http://proxy.example.org' }).problems).toEqual([
      expect.stringMatching(/api_url: must begin with https/),
    ]);
  });

  test.each<[Record<string, string>, RegExp]>([
    [{}, /app_id: is missing: give app_id and app_key of a GitHub App, or api_token/],
    [{ app_key: 'app.pem' }, /app_id: is missing/],
    [{ ...APP, api_token: 'x' }, /api_token: stands beside a GitHub App/],
    [{ app_id: '12', app_key: 'none.pem' }, /app_key: \/etc\/gatehouse\/none.pem cannot be read \(ENOENT\)/],
    [{ app_id: '12', app_key: 'ed25519.pem' }, /holds no RSA private key/],
    [{ app_id: '12', app_key: 'token' }, /holds no RSA private key/],
    [{ ...APP, webhook_token_previous: 'x' }, /goes with "webhook_token"/],
    [{ ...APP, webhook_token: 'x', webhook_token_file: 'token' }, /write only one/],
    [{ ...APP, webhook_token_file: 'empty' }, /is empty/],
    [{ ...APP, verify_ssl: 'false' }, /NODE_EXTRA_CA_CERTS/],
    [{ ...APP, server: 'https://github.example.org' }, /is not a host name/],
    [{ ...APP, canonical_hostname: 'a b' }, /is not a host name/],
    [{ ...APP, repo_cache: 'eu.example.org', sshkey: 'id' }, /stands beside "sshkey"/],
    [{ ...APP, ssh_known_hosts: 'hosts' }, /goes with "sshkey"/],
    [{ ...APP, repo_retry_timeout: '600' }, /is not supported yet/],
    [{ ...APP, landing: 'merge' }, /landing: "merge" is not one of push, api/],
    [{ ...APP, app_idd: '1' }, /unknown option.*app_id/],
  ])('%j is refused with advice', (written, problem) => {
    const { problems } = read(written);
    expect(problems).toEqual([expect.stringMatching(problem)]);
    expect(problems.join()).not.toMatch(/hunter2|PRIVATE/);
  });

  test('are undefined when any is refused', () => {
    expect(read({ ...APP, verify_ssl: 'no' }).options).toBeUndefined();
  });
});
