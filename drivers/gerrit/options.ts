/** The options of `[connection NAME]` with `driver = gerrit`, read once at the start. Names are Zuul's where Zuul has them. */
import {
  type CheckedSection,
  checkedSection,
  textOfFile,
  writtenOrInFile,
} from '../../src/lib/checked-section.ts';
import type { OptionReader } from '../../src/lib/option-reader.ts';
import { Secret } from '../../src/lib/secret.ts';
import { gitCookie } from './gitcookies.ts';

/** How Gerrit is asked, and as whom. */
export type GerritAuth = HttpAuth | SshAuth;

/** By commands over SSH, with the key alone. */
export interface SshAuth {
  readonly kind: 'ssh';
  /** `submit_whole_topic`: Gerrit does not say over SSH whether it submits the changes of a topic together. */
  readonly submitsWholeTopic: boolean;
}

/** How REST requests are authenticated. */
export type HttpAuth =
  | {
      readonly kind: 'basic' | 'digest';
      readonly user: string;
      readonly password: Secret;
    }
  | { readonly kind: 'bearer'; readonly token: Secret }
  /** A cookie of `.gitcookies`, e.g. of googlesource.com: `o=git-…`. */
  | { readonly kind: 'cookie'; readonly cookie: Secret }
  /** Reads what is public, and writes nothing: for processes without scheduler and merger. */
  | { readonly kind: 'none' };

/** Valid, and with all defaults applied. URLs are without trailing slash. */
export interface GerritOptions {
  /** Host name of Gerrit's SSH and, without `baseUrl`, of its page. */
  readonly server: string;
  /** Default: `server`. */
  readonly canonicalHostname: string;
  /** Of page, REST and git over HTTP; default `https://<server>`. */
  readonly baseUrl: string;
  readonly auth: GerritAuth;
  readonly verifySsl: boolean;
  /** For the stream, for git where `gitOverSsh`, and for everything where `auth` is `ssh`. Undefined: no key, so no stream. */
  readonly ssh:
    | {
        readonly user: string;
        /** `ssh_server`; absent: `server`. */
        readonly host?: string;
        readonly port: number;
        /** Absolute path of the private key. */
        readonly key: string;
        /** Absolute path of known_hosts; undefined: the user's own. */
        readonly knownHosts: string | undefined;
      }
    | undefined;
  /** `stream_events`, default true where there is a key. */
  readonly streams: boolean;
  readonly gitOverSsh: boolean;
  /** `<gitMirror>/<project>` has copies that may lag; undefined: there are none. */
  readonly gitMirror: string | undefined;
  /** Seconds between keep-alive messages of the stream; 0: none. */
  readonly keepAlive: number;
  /** Seconds between polls where nothing announces changes. */
  readonly pollInterval: number;
  /** Requests under way at a time. */
  readonly concurrency: number;
  /** Of the webhooks plug-in; none: the connection takes no webhooks. */
  readonly webhookTokens: readonly Secret[];
  readonly webhookRate: number;
}

const DAY = 86_400;
const FASTEST_RATE = 100_000;
const HOST_NAME = /^[a-z0-9][a-z0-9.-]*$/i;

/** @param readFile text of a file. @throws when it cannot be read. @returns undefined: `read` holds the reasons. */
export function readGerritOptions(
  read: OptionReader,
  readFile: (path: string) => string,
): GerritOptions | undefined {
  const section = checkedSection(read, readFile);
  const server = readHost(section, 'server', read.required('server'));
  const canonicalHostname = readHost(
    section,
    'canonical_hostname',
    read.string('canonical_hostname', server),
  );
  const baseUrl =
    withoutQuery(section, 'baseurl', read.url('baseurl', ['https', 'http'])) ?? `https://${server}`;
  const user = readUser(section);
  const ssh = readSsh(section, user);
  const auth = readAuth(section, user, baseUrl, ssh);
  refuseOtherStreams(section);
  const options = {
    server,
    canonicalHostname,
    baseUrl,
    ssh,
    verifySsl: read.boolean('verify_ssl', true),
    streams: read.boolean('stream_events', ssh !== undefined),
    gitOverSsh: read.boolean('git_over_ssh', false),
    gitMirror: withoutQuery(section, 'git_mirror', read.url('git_mirror', ['https', 'http'])),
    keepAlive: read.duration('keepalive', { min: 0, max: 3_600 }, 60),
    pollInterval: read.duration('poll_interval', { min: 1, max: DAY }, 60),
    concurrency: read.integer('concurrency', { min: 1, max: 500 }, 40),
    webhookTokens: readWebhookTokens(section),
    webhookRate: read.integer('webhook_rate', { min: 1, max: FASTEST_RATE }, 1_000),
  };
  if (ssh === undefined && options.streams) section.refuse('stream_events', NEEDS_KEY);
  if (ssh === undefined && options.gitOverSsh) section.refuse('git_over_ssh', NEEDS_KEY);
  return section.isValid() && auth !== undefined ? { ...options, auth } : undefined;
}

const NEEDS_KEY = 'needs "sshkey", the private key of the account at Gerrit';

function readHost({ refuse }: CheckedSection, option: string, host: string): string {
  if (host !== '' && !HOST_NAME.test(host))
    refuse(option, `"${host}" is not a host name, such as review.example.org`);
  return host.toLowerCase();
}

/** Something is appended to such a URL. */
function withoutQuery(
  { refuse }: CheckedSection,
  option: string,
  url: string | undefined,
): string | undefined {
  if (url !== undefined && /[?#]/.test(url)) refuse(option, 'must not hold a query or a fragment');
  return url;
}

/** Required with a password or a key. */
function readUser({ read, refuse }: CheckedSection): string {
  const user = read.string('user', '');
  if (read.has('user') && !/^[^:\s\p{Cc}]+$/u.test(user))
    refuse('user', 'is empty, or holds a colon, white space or a control character');
  return user;
}

function readSsh({ read, refuse }: CheckedSection, user: string): GerritOptions['ssh'] {
  const key = read.path('sshkey');
  const host = read.string('ssh_server');
  const port = read.integer('port', { min: 1, max: 65_535 }, 29_418);
  const knownHosts = read.path('ssh_known_hosts');
  if (host !== undefined && !HOST_NAME.test(host)) refuse('ssh_server', `"${host}" is not a host name`);
  if (key === undefined) {
    for (const option of ['ssh_known_hosts', 'ssh_server'])
      if (read.has(option)) refuse(option, 'goes with "sshkey"');
    return undefined;
  }
  if (user === '') refuse('user', 'is missing: "sshkey" is a key of this account');
  return { user, port, key, knownHosts, ...(host === undefined ? {} : { host: host.toLowerCase() }) };
}

const NO_CREDENTIALS =
  'is missing: Gerrit is asked over HTTP. Take one from Gerrit > Settings > HTTP Credentials, or give the key of the account ("sshkey") to ask over SSH, or write auth_type = none in processes that only read public projects';
const AUTH_ADVICE: Readonly<Record<string, string>> = {
  form: 'has no way of its own here: use basic with a password from Gerrit > Settings > HTTP Credentials, which passes by the login form',
  gcloud_service: 'is not supported: use auth_type = cookie with the gitcookies file of the account',
};

function readAuth(
  section: CheckedSection,
  user: string,
  baseUrl: string,
  ssh: GerritOptions['ssh'],
): GerritAuth | undefined {
  const { read, refuse } = section;
  const password = writtenOrInFile(section, 'password', read.secret('password'), read.path('password_file'));
  const token = writtenOrInFile(section, 'token', read.secret('token'), read.path('token_file'));
  const cookies = read.path('gitcookies');
  const written = read.string('auth_type', '');
  const advice = AUTH_ADVICE[written];
  if (advice !== undefined) {
    refuse('auth_type', `"${written}" ${advice}`);
    return undefined;
  }
  const kind = read.oneOf(
    'auth_type',
    ['basic', 'digest', 'bearer', 'cookie', 'ssh', 'none'],
    inferredKind(section, ssh),
  );
  refuseOtherCredentials(section, kind);
  const submitsWholeTopic = read.boolean('submit_whole_topic', false);
  switch (kind) {
    case 'none':
      return { kind };
    case 'ssh':
      if (ssh === undefined) refuse('sshkey', 'is missing: auth_type is ssh');
      return { kind, submitsWholeTopic };
    case 'bearer':
      if (!read.has('token') && !read.has('token_file')) refuse('token', 'is missing: auth_type is bearer');
      return token && { kind, token };
    case 'cookie':
      return readCookie(section, cookies, baseUrl);
    default: {
      if (!read.has('password') && !read.has('password_file')) refuse('password', NO_CREDENTIALS);
      if (user === '') refuse('user', 'is missing: "password" is that of this account');
      return password && { kind, user, password };
    }
  }
}

/** Without a password Gerrit is asked with the key, as in Zuul. */
function inferredKind({ read }: CheckedSection, ssh: GerritOptions['ssh']): GerritAuth['kind'] {
  if (read.has('token') || read.has('token_file')) return 'bearer';
  if (read.has('gitcookies')) return 'cookie';
  const hasPassword = read.has('password') || read.has('password_file');
  return ssh !== undefined && !hasPassword ? 'ssh' : 'basic';
}

/** Options by the kind of authentication that uses them. */
const CREDENTIALS: Readonly<Record<string, readonly GerritAuth['kind'][]>> = {
  password: ['basic', 'digest'],
  password_file: ['basic', 'digest'],
  token: ['bearer'],
  token_file: ['bearer'],
  gitcookies: ['cookie'],
  submit_whole_topic: ['ssh'],
};

function refuseOtherCredentials({ read, refuse }: CheckedSection, kind: GerritAuth['kind']): void {
  for (const [option, kinds] of Object.entries(CREDENTIALS))
    if (read.has(option) && !kinds.includes(kind))
      refuse(option, `is not used with auth_type = ${kind}: remove one of them`);
}

function readCookie(
  section: CheckedSection,
  file: string | undefined,
  baseUrl: string,
): GerritAuth | undefined {
  if (file === undefined) {
    section.refuse('gitcookies', 'is missing: auth_type is cookie');
    return undefined;
  }
  const text = textOfFile('gitcookies', file, section);
  if (text === undefined) return undefined;
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).hostname : '';
  const cookie = gitCookie(text, host);
  if (cookie !== undefined) return { kind: 'cookie', cookie: new Secret(cookie) };
  section.refuse('gitcookies', `${file} holds no cookie for ${host}`);
  return undefined;
}

function readWebhookTokens(section: CheckedSection): readonly Secret[] {
  const { read, refuse } = section;
  const written = read.secret('webhook_token');
  const present = writtenOrInFile(section, 'webhook_token', written, read.path('webhook_token_file'));
  const previous = read.secret('webhook_token_previous');
  if (previous !== undefined && present === undefined)
    refuse('webhook_token_previous', 'goes with "webhook_token", the one that replaces it');
  return [present, previous].filter(token => token !== undefined);
}

const OTHER_STREAMS = [
  ...['bootstrap_servers', 'topic', 'client_id', 'group_id', 'tls_cert', 'tls_key', 'tls_ca'].map(
    name => `kafka_${name}`,
  ),
  ...['region', 'stream', 'access_key', 'secret_key'].map(name => `aws_kinesis_${name}`),
  ...['project', 'topic', 'subscription_id', 'private_key'].map(name => `gcloud_pubsub_${name}`),
];

function refuseOtherStreams({ read }: CheckedSection): void {
  for (const option of OTHER_STREAMS) {
    read.unsupported(option, STREAM_ADVICE);
  }
  read.unsupported('gitweb_url_template', 'remove it: commits are linked to at Gerrit');
  read.unsupported('max_dependencies', 'write max-dependencies in the tenant file, for all its connections');
  read.unsupported(
    'replication_delay',
    'remove it: what git does not find yet is asked for again, and what a "git_mirror" lacks is fetched from Gerrit',
  );
  read.unsupported('disable_pool', 'remove it: "concurrency" bounds the requests under way');
}

const STREAM_ADVICE =
  'remove it and use "sshkey" (the event stream), "webhook_token" (the webhooks plug-in), or neither (polls): what happened while nothing listened is found afterwards with each of them';
