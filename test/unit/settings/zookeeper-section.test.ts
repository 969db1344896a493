import { describe, expect, it } from 'vitest';
import { showOptionProblem } from '../../../src/lib/option-reader.ts';
import { parseSettings } from '../../../src/settings/parse-settings.ts';

const MINIMAL = '[scheduler]\ntenant_config = tenants.yaml\n';

function parse(text: string) {
  const content = new TextEncoder().encode(text);
  return parseSettings({ content, file: 'gatehouse.conf', directory: '/srv/etc', environment: {} });
}

function settingsOf(text: string) {
  const parsed = parse(text);
  if (parsed.kind === 'invalid') throw new Error(parsed.problems.map(showOptionProblem).join('\n'));
  return parsed.settings;
}

function storeOf(text: string) {
  const { store } = settingsOf(MINIMAL + text);
  if (store.kind === 'embedded') throw new Error('the embedded store was chosen');
  return store;
}

function errorsOf(text: string): readonly string[] {
  const parsed = parse(text);
  return parsed.kind === 'invalid' ? parsed.problems.map(showOptionProblem) : [];
}

function warningsOf(text: string): readonly string[] {
  const parsed = parse(MINIMAL + text);
  return parsed.kind === 'invalid' ? ['invalid'] : parsed.warnings.map(showOptionProblem);
}

describe('[zookeeper]', () => {
  it('takes the place of the embedded store; hosts are enough', () => {
    expect(storeOf('[zookeeper]\nhosts = zk1, zk2:2182,\n')).toEqual({
      kind: 'zookeeper',
      hosts: [
        { host: 'zk1', port: 2181 },
        { host: 'zk2', port: 2182 },
      ],
      sessionTimeout: 10,
      auth: undefined,
      tls: undefined,
      root: '/gatehouse',
    });
  });

  it('a section of a zuul.conf fits as it is: TLS, its port, a fractional timeout', () => {
    const store = storeOf(
      '[zookeeper]\nhosts=zk1.example.org,[2001:db8::3],[::1]:2999\ntls_cert=/c.pem\ntls_key=/k.pem\ntls_ca=ca.pem\nsession_timeout=7.5\n',
    );
    expect(store.hosts).toEqual([
      { host: 'zk1.example.org', port: 2281 },
      { host: '2001:db8::3', port: 2281 },
      { host: '::1', port: 2999 },
    ]);
    expect(store.tls?.ca).toEqual({ path: '/srv/etc/ca.pem', at: { file: 'gatehouse.conf', line: 7 } });
    expect(store.sessionTimeout).toBe(7.5);
  });

  it('digest authentication needs a user and a password, which is never shown', () => {
    const { auth } = storeOf('[zookeeper]\nhosts=zk1\nauth_user=gate\nauth_password=se;cret\n');
    expect(auth?.user).toBe('gate');
    expect(auth?.password.reveal()).toBe('se;cret');
    expect(JSON.stringify(auth)).not.toContain('cret');
  });

  it('executors and mergers need no tenant file', () => {
    expect(settingsOf('[zookeeper]\nhosts=zk1\n').scheduler.tenantConfig).toBeUndefined();
  });

  it('executors end their builds before they stop and serve logs, as one of many', () => {
    const { executor } = settingsOf('[zookeeper]\nhosts=zk1\n[merger]\ngit_dir=/m\n');
    expect(executor).toMatchObject({
      sigtermMethod: 'graceful',
      pausedOnStart: false,
      gitDir: '/m',
      logServer: { listenAddress: '127.0.0.1', port: 0 },
      logToken: undefined,
    });
  });

  it.each([
    [
      'the embedded store as well',
      '[store]\npath=x\n[zookeeper]\nhosts=a\n',
      '3: [store]: stands beside [zookeeper] (line 5), which takes its place; remove one of the two',
    ],
    ['no hosts', '[zookeeper]\n', '3: [zookeeper] hosts: is required and missing'],
    [
      'a path as in a connection string',
      '[zookeeper]\nhosts=a:2181/zuul\n',
      '4: [zookeeper] hosts: holds a path; write host:port, host:port and the path as root',
    ],
    [
      'an address without brackets',
      '[zookeeper]\nhosts=::1\n',
      '4: [zookeeper] hosts: "::1" is not host, host:port or [IPv6 address]:port',
    ],
    [
      'a port that is none',
      '[zookeeper]\nhosts=a:70000\n',
      '4: [zookeeper] hosts: "a:70000" is not host, host:port or [IPv6 address]:port',
    ],
    ['a host twice', '[zookeeper]\nhosts=a,a:2181\n', '4: [zookeeper] hosts: names a port 2181 twice'],
    [
      'half of TLS',
      '[zookeeper]\nhosts=a\ntls_cert=c\n',
      '3: [zookeeper] tls_key: is missing; tls_cert, tls_key and tls_ca are set all three or not at all',
    ],
    [
      'a user without password',
      '[zookeeper]\nhosts=a\nauth_user=u\n',
      '5: [zookeeper] auth_user: needs auth_password as well',
    ],
    [
      'a password without user',
      '[zookeeper]\nhosts=a\nauth_password=u\n',
      '5: [zookeeper] auth_password: needs auth_user as well',
    ],
    [
      'a root that is none',
      '[zookeeper]\nhosts=a\nroot=zuul/\n',
      '5: [zookeeper] root: "zuul/" is not a path such as /gatehouse',
    ],
    [
      'a timeout that is none',
      '[zookeeper]\nhosts=a\nsession_timeout=0.1\n',
      '5: [zookeeper] session_timeout: "0.1" is out of range, 1 to 600',
    ],
    [
      'logs for all',
      '[zookeeper]\nhosts=a\n[executor]\nlog_listen_address=0.0.0.0\n',
      '6: [executor] log_listen_address: is reachable from elsewhere; set log_token as well, here and at the webs',
    ],
  ])('refuses %s', (_what, text, error) => {
    expect(errorsOf(MINIMAL + text)).toEqual([`gatehouse.conf:${error}`]);
  });

  it('warns of a store that is open to all, unless it is on this machine or guarded', () => {
    expect(warningsOf('[zookeeper]\nhosts = localhost, zk2\n')).toEqual([
      'gatehouse.conf:4: [zookeeper] hosts: has neither TLS nor auth_user: every client that reaches zk2 port 2181 can read and change everything; set tls_cert, tls_key and tls_ca',
    ]);
    expect(warningsOf('[zookeeper]\nhosts = localhost,127.0.0.1,[::1]:2182\n')).toEqual([]);
    expect(warningsOf('[zookeeper]\nhosts=zk2\nauth_user=u\nauth_password=p\n')).toEqual([]);
    expect(warningsOf('[zookeeper]\nhosts=zk2\ntls_cert=c\ntls_key=k\ntls_ca=a\n')).toEqual([]);
  });
});
