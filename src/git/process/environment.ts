/**
 * The environment git runs in: cleared, then an allow-list, then our own settings. Nothing of the operator's
 * `~/.gitconfig`, of `/etc/gitconfig` or of the service's variables reaches git by accident.
 *
 * Settings go through `GIT_CONFIG_COUNT`, which outranks the configuration file of the repository: hooks, file system
 * monitors, credential helpers and submodule recursion stay off even in a manipulated repository.
 */
import type { Remote } from './remote.ts';
import { sshEnvironment } from './ssh.ts';

const PROXIES = ['http_proxy', 'https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'];

/** Variables of this process that git and ssh may see. */
const ALLOWED = [
  'PATH',
  'TMPDIR',
  'SSH_AUTH_SOCK',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  ...PROXIES,
  'no_proxy',
  'NO_PROXY',
];

/** Author and committer: the same on all machines, or the same merges have different ids. */
export interface Identity {
  readonly name: string;
  readonly email: string;
}

/** The same for all processes of one `createGit`. */
export interface GitEnvironmentOptions {
  /** Schemes of URLs that git may use; empty: none, so no remote at all. */
  readonly protocols: readonly string[];
  readonly identity: Identity;
  /** A transfer slower than this many bytes per second … */
  readonly lowSpeedBytes: number;
  /** … for this many seconds is given up (HTTP only). */
  readonly lowSpeedSeconds: number;
  /** Where the allow-listed variables are taken from. */
  readonly inherited: Readonly<Record<string, string | undefined>>;
}

type Setting = readonly [key: string, value: string];

/** The environment of one git process, for `gitDir` when given and with access to `remote` when given. */
export function gitEnvironment(
  options: GitEnvironmentOptions,
  gitDir: string | undefined,
  remote: Remote | undefined,
): Record<string, string> {
  return {
    ...allowed(options.inherited),
    // No directory can ever be made below /dev/null, so no ~/.netrc or ~/.config is found.
    HOME: '/dev/null',
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ALLOW_PROTOCOL: options.protocols.join(':'),
    GIT_PROTOCOL_FROM_USER: '0',
    GIT_AUTHOR_NAME: options.identity.name,
    GIT_AUTHOR_EMAIL: options.identity.email,
    GIT_COMMITTER_NAME: options.identity.name,
    GIT_COMMITTER_EMAIL: options.identity.email,
    ...sshEnvironment({}),
    GIT_SSH_VARIANT: 'ssh',
    ...(gitDir === undefined ? {} : { GIT_DIR: gitDir }),
    ...remote?.environment,
    ...settingsAsEnvironment([...settings(options), ...headerSettings(remote)]),
  };
}

/** Whether variables name a proxy for requests over HTTP. */
export function hasProxy(inherited: GitEnvironmentOptions['inherited']): boolean {
  return PROXIES.some(name => (inherited[name] ?? '') !== '');
}

function allowed(inherited: GitEnvironmentOptions['inherited']): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of ALLOWED) {
    const value = inherited[name];
    if (value !== undefined) found[name] = value;
  }
  return found;
}

function settings(options: GitEnvironmentOptions): Setting[] {
  return [
    ['core.hooksPath', '/dev/null'],
    ['core.fsmonitor', 'false'],
    ['core.attributesFile', '/dev/null'],
    ['core.pager', 'cat'],
    // An empty helper clears the list of helpers configured so far.
    ['credential.helper', ''],
    ['submodule.recurse', 'false'],
    ['fetch.recurseSubmodules', 'false'],
    ['push.recurseSubmodules', 'no'],
    ['push.gpgSign', 'false'],
    ['commit.gpgSign', 'false'],
    // Always a pack, which appears whole: a killed fetch that unpacks objects one by one leaves commits without their trees.
    ['fetch.unpackLimit', '1'],
    // Garbage is collected by `consolidate.ts` only, never in the background of a fetch.
    ['gc.auto', '0'],
    ['maintenance.auto', 'false'],
    ['http.followRedirects', 'false'],
    ['http.lowSpeedLimit', String(options.lowSpeedBytes)],
    ['http.lowSpeedTime', String(options.lowSpeedSeconds)],
    ['advice.detachedHead', 'false'],
  ];
}

function headerSettings(remote: Remote | undefined): Setting[] {
  return (remote?.headers ?? []).map(line => {
    if (/[\r\n\0]/.test(line)) throw new RangeError('an HTTP header for git holds a line break');
    return ['http.extraHeader', line];
  });
}

function settingsAsEnvironment(all: readonly Setting[]): Record<string, string> {
  const environment: Record<string, string> = { GIT_CONFIG_COUNT: String(all.length) };
  all.forEach(([key, value], index) => {
    environment[`GIT_CONFIG_KEY_${index}`] = key;
    environment[`GIT_CONFIG_VALUE_${index}`] = value;
  });
  return environment;
}
