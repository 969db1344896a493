/**
 * `[zookeeper]`: the ensemble that many processes share. Zuul's names, so that the section of a zuul.conf fits as it is.
 *
 *     [zookeeper]
 *     hosts = zk1.example.org, zk2.example.org:2281, [2001:db8::3]:2281
 *     tls_cert = /etc/gatehouse/zk-client.pem
 *     tls_key = /etc/gatehouse/zk-client-key.pem
 *     tls_ca = /etc/gatehouse/zk-ca.pem
 *     session_timeout = 10
 *
 * Only paths are read here; the files are read when the process starts (tls-files.ts).
 */
import type { OptionProblem, OptionReader, OptionSection } from '../lib/option-reader.ts';
import { isLoopback } from './loopback.ts';
import type { ZooKeeperHostSetting, ZooKeeperSettings } from './settings.ts';

/** Ports a server of ZooKeeper listens on by convention. */
const TLS_PORT = 2281;
const PLAIN_PORT = 2181;

const TLS_OPTIONS = ['tls_cert', 'tls_key', 'tls_ca'] as const;

/** @param section the same one, for the places of its options. */
export function readZooKeeper(read: OptionReader, section: OptionSection): ZooKeeperSettings {
  const file = (option: string, path: string | undefined) => ({
    path: path ?? '',
    at: section.options.get(option)?.at ?? section.at,
  });
  const tls = {
    cert: file('tls_cert', read.path('tls_cert')),
    key: file('tls_key', read.path('tls_key')),
    ca: file('tls_ca', read.path('tls_ca')),
  };
  const missing = TLS_OPTIONS.filter(option => !read.has(option));
  const [first] = missing;
  if (first !== undefined && missing.length < TLS_OPTIONS.length)
    read.refuse(first, 'is missing; tls_cert, tls_key and tls_ca are set all three or not at all');
  const withTls = missing.length === 0;
  const user = read.string('auth_user');
  const password = read.secret('auth_password');
  if (user !== undefined && !/^[^:\s]+$/.test(user))
    read.refuse('auth_user', `"${user}" is empty or holds ":" or white space`);
  if (user !== undefined && password === undefined) read.refuse('auth_user', 'needs auth_password as well');
  if (user === undefined && read.has('auth_password'))
    read.refuse('auth_password', 'needs auth_user as well');
  const root = read.string('root', '/gatehouse');
  if (!/^(\/[\w.-]+)+$/.test(root)) read.refuse('root', `"${root}" is not a path such as /gatehouse`);
  return {
    kind: 'zookeeper',
    hosts: readHosts(read, withTls ? TLS_PORT : PLAIN_PORT),
    sessionTimeout: readTimeout(read),
    auth: user === undefined || password === undefined ? undefined : { user, password },
    tls: withTls ? tls : undefined,
    root,
  };
}

/** Seconds; Zuul's is a decimal fraction (`10.0`). */
function readTimeout(read: OptionReader): number {
  const range = { min: 1, max: 600 };
  return /^\d+\.\d+$/.test(read.string('session_timeout', ''))
    ? read.number('session_timeout', range, 10)
    : read.duration('session_timeout', range, 10);
}

function readHosts(read: OptionReader, defaultPort: number): readonly ZooKeeperHostSetting[] {
  const given = read.required('hosts');
  if (given === '') return [];
  if (given.includes('/')) {
    read.refuse('hosts', 'holds a path; write host:port, host:port and the path as root');
    return [];
  }
  const hosts = given
    .split(',')
    .map(text => text.trim())
    .filter(text => text !== '')
    .flatMap(text => {
      const host = parseHost(text, defaultPort);
      if (host === undefined) read.refuse('hosts', `"${text}" is not host, host:port or [IPv6 address]:port`);
      return host ?? [];
    });
  const seen = new Set<string>();
  for (const { host, port } of hosts) {
    if (seen.has(`${host} ${port}`)) read.refuse('hosts', `names ${host} port ${port} twice`);
    seen.add(`${host} ${port}`);
  }
  return hosts;
}

function parseHost(text: string, defaultPort: number): ZooKeeperHostSetting | undefined {
  const [, bracketed, plain, port] =
    /^(?:\[([0-9a-f:.]+(?:%\w+)?)\]|([\w.-]+))(?::(\d{1,5}))?$/i.exec(text) ?? [];
  const host = bracketed ?? plain;
  const number = port === undefined ? defaultPort : Number(port);
  return host === undefined || number < 1 || number > 65_535 ? undefined : { host, port: number };
}

/** The embedded store is for one process, an ensemble for many: with both it would be unclear which one is authoritative. */
export function refuseTwoStores(
  sections: ReadonlyMap<string, OptionSection>,
  problems: OptionProblem[],
): void {
  const store = sections.get('store');
  const zookeeper = sections.get('zookeeper');
  if (store === undefined || zookeeper === undefined) return;
  const reason = `stands beside [zookeeper] (line ${zookeeper.at.line}), which takes its place; remove one of the two`;
  problems.push({ at: store.at, section: 'store', reason });
}

/** Warns of what a client on the network could do; none where an option or the loopback interface prevents it. */
export function exposedStore(settings: ZooKeeperSettings, section: OptionSection): readonly OptionProblem[] {
  if (settings.tls !== undefined || settings.auth !== undefined) return [];
  const remote = settings.hosts.find(({ host }) => !isLoopback(host));
  if (remote === undefined) return [];
  const reason = `has neither TLS nor auth_user: every client that reaches ${remote.host} port ${remote.port} can read and change everything; set tls_cert, tls_key and tls_ca`;
  return [
    { at: section.options.get('hosts')?.at ?? section.at, section: 'zookeeper', option: 'hosts', reason },
  ];
}
