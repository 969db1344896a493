import { describe, expect, test } from 'vitest';
import { gitCookie } from '../../../../drivers/gerrit/gitcookies.ts';
import { readGerritOptions } from '../../../../drivers/gerrit/options.ts';
import { optionReader, showOptionProblem } from '../../../../src/lib/option-reader.ts';

const FILES: Readonly<Record<string, string>> = {
  '/etc/gatehouse/password': 'hunter2\n',
  '/etc/gatehouse/empty': '\n',
  '/etc/gatehouse/gitcookies': '.example.org\tTRUE\t/\tTRUE\t2147483647\to\tgit-ci=1//0abc\n',
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
  const at = { file: 'gatehouse.conf', line: 1 };
  const reader = optionReader({ name: 'connection review', at, options, directory: '/etc/gatehouse' });
  return {
    options: readGerritOptions(reader, readFile),
    problems: reader.finish().map(showOptionProblem).join('\n'),
  };
}

const LEAST = { server: 'Review.example.org', user: 'ci', password: 'hunter2' };

describe('the options of a Gerrit connection', () => {
  test('need server, user and password only', () => {
    const { options, problems } = read(LEAST);
    expect(problems).toBe('');
    expect(options).toEqual({
      server: 'review.example.org',
      canonicalHostname: 'review.example.org',
      baseUrl: 'https://review.example.org',
      auth: { kind: 'basic', user: 'ci', password: expect.anything() },
      verifySsl: true,
      ssh: undefined,
      streams: false,
      gitOverSsh: false,
      keepAlive: 60,
      pollInterval: 60,
      concurrency: 40,
      webhookTokens: [],
      webhookRate: 1_000,
    });
    expect(JSON.stringify(options)).not.toContain('hunter2');
  });

  test('are those of Zuul', () => {
    const { options, problems } = read({
      ...LEAST,
      canonical_hostname: 'git.example.org',
      baseurl: 'http://gerrit:8080/r/',
      auth_type: 'digest',
      verify_ssl: 'false',
      sshkey: 'id_rsa',
      ssh_server: 'ssh.example.org',
      ssh_known_hosts: 'hosts',
      port: '29419',
      keepalive: '0',
      git_over_ssh: 'true',
    });
    expect(problems).toBe('');
    expect(options).toMatchObject({
      canonicalHostname: 'git.example.org',
      baseUrl: 'http://gerrit:8080/r',
      auth: { kind: 'digest', user: 'ci' },
      verifySsl: false,
      ssh: {
        user: 'ci',
        host: 'ssh.example.org',
        port: 29_419,
        key: '/etc/gatehouse/id_rsa',
        knownHosts: '/etc/gatehouse/hosts',
      },
      streams: true,
      gitOverSsh: true,
      keepAlive: 0,
    });
  });

  test('may have their secrets in files', () => {
    const { password: _, ...rest } = LEAST;
    const { options } = read({ ...rest, password_file: 'password', webhook_token_file: 'password' });
    expect(options?.auth.kind === 'basic' && options.auth.password.reveal()).toBe('hunter2');
    expect(options?.webhookTokens.map(token => token.reveal())).toEqual(['hunter2']);
    expect(read({ ...rest, password_file: 'empty' }).problems).toContain('is empty');
    expect(read({ ...rest, password_file: 'none' }).problems).toContain('cannot be read (ENOENT)');
  });

  test('may name a token, a cookie, or no account', () => {
    const server = 'review.example.org';
    const bearer = read({ server, token: 'secret' }).options?.auth;
    expect(bearer?.kind === 'bearer' && bearer.token.reveal()).toBe('secret');
    const cookie = read({ server, gitcookies: 'gitcookies' }).options?.auth;
    expect(cookie?.kind === 'cookie' && cookie.cookie.reveal()).toBe('o=git-ci=1//0abc');
    expect(read({ server, auth_type: 'none' })).toMatchObject({
      options: { auth: { kind: 'none' } },
      problems: '',
    });
  });

  test('may name a key alone: then Gerrit is asked over SSH', () => {
    const least = { server: 'review.example.org', user: 'ci', sshkey: 'id' };
    expect(read(least)).toMatchObject({
      options: { auth: { kind: 'ssh', submitsWholeTopic: false }, streams: true },
      problems: '',
    });
    expect(read({ ...least, submit_whole_topic: 'true' }).options?.auth).toEqual({
      kind: 'ssh',
      submitsWholeTopic: true,
    });
    expect(read({ ...least, password: 'x' }).options?.auth.kind).toBe('basic');
    expect(read({ ...least, auth_type: 'none' }).options?.auth).toEqual({ kind: 'none' });
  });

  test.each<[Readonly<Record<string, string>>, RegExp]>([
    [{ server: 'r.org', user: 'ci', auth_type: 'ssh' }, /sshkey: is missing: auth_type is ssh/],
    [{ ...LEAST, submit_whole_topic: 'true' }, /submit_whole_topic: is not used with auth_type = basic/],
    [
      { server: 'r.org', user: 'ci' },
      /password: is missing: Gerrit is asked over HTTP.*Settings > HTTP Credentials/,
    ],
    [{ server: 'r.org', password: 'x' }, /user: is missing: "password"/],
    [{ user: 'ci', password: 'x' }, /server: is required/],
    [{ ...LEAST, server: 'https://r.org' }, /server: "https:\/\/r.org" is not a host name/],
    [{ ...LEAST, auth_type: 'form' }, /auth_type: "form" .*HTTP Credentials/],
    [{ ...LEAST, auth_type: 'gcloud_service' }, /auth_type: .*gitcookies/],
    [{ ...LEAST, auth_type: 'ntlm' }, /not one of basic, digest, bearer, cookie, ssh, none/],
    [{ ...LEAST, token: 'x' }, /password: is not used with auth_type = bearer/],
    [{ server: 'r.org', auth_type: 'bearer' }, /token: is missing/],
    [{ server: 'r.org', auth_type: 'cookie' }, /gitcookies: is missing/],
    [{ server: 'r.net', gitcookies: 'gitcookies' }, /holds no cookie for r.net/],
    [{ ...LEAST, password_file: 'password' }, /password_file: stands beside "password"/],
    [{ ...LEAST, stream_events: 'true' }, /stream_events: needs "sshkey"/],
    [{ ...LEAST, git_over_ssh: 'true' }, /git_over_ssh: needs "sshkey"/],
    [{ ...LEAST, ssh_known_hosts: 'hosts' }, /ssh_known_hosts: goes with "sshkey"/],
    [{ ...LEAST, user: 'a:b' }, /user: .*holds a colon/],
    [{ ...LEAST, baseurl: 'https://r.org/?x' }, /baseurl: must not hold a query/],
    [
      { ...LEAST, kafka_bootstrap_servers: 'k:9092' },
      /kafka_bootstrap_servers: is not supported yet; .*"sshkey"/,
    ],
    [{ ...LEAST, gcloud_pubsub_project: 'p' }, /gcloud_pubsub_project: is not supported/],
    [{ ...LEAST, aws_kinesis_region: 'eu' }, /aws_kinesis_region: is not supported/],
    [{ ...LEAST, gitweb_url_template: 'x' }, /gitweb_url_template: is not supported yet; remove it/],
    [{ ...LEAST, webhook_token_previous: 'x' }, /goes with "webhook_token"/],
    [{ ...LEAST, pasword: 'x' }, /pasword: unknown option/],
  ])('%o are refused with advice', (written, reason) => {
    expect(read(written).problems).toMatch(reason);
  });
});

test('a cookie is that of the host, or of a domain above it that says so', () => {
  const file = [
    '# a comment',
    'other.org\tFALSE\t/\tTRUE\t1\to\tno',
    '#HttpOnly_.r.org\tTRUE\t/\tTRUE\t1\to\tyes',
    'x',
  ];
  expect(gitCookie(file.join('\n'), 'a.r.org')).toBe('o=yes');
  expect(gitCookie(file.join('\n'), 'evilr.org')).toBeUndefined();
  expect(gitCookie(file.join('\n'), 'sub.other.org')).toBeUndefined();
});
