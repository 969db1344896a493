/** The options of `[connection NAME]` with `driver = github`, read once at the start. Names are Zuul's where Zuul has them. */
import { createPrivateKey } from 'node:crypto';
import {
  type CheckedSection,
  checkedSection,
  textOfFile,
  writtenOrInFile,
} from '../../src/lib/checked-section.ts';
import type { OptionReader } from '../../src/lib/option-reader.ts';
import { Secret } from '../../src/lib/secret.ts';
import type { GithubIdentification } from './api/open-client.ts';

/** Valid, and with all defaults applied. URLs are without trailing slash. */
export interface GithubOptions {
  /** `github.com`, or the name of a GitHub Enterprise Server. */
  readonly server: string;
  /** Default: `server`, without its port. */
  readonly canonicalHostname: string;
  readonly identification: GithubIdentification;
  /** Present and previous key of webhook signatures; none: the connection takes no webhooks. */
  readonly webhookTokens: readonly Secret[];
  /** Webhooks per second; ten times as many in a burst. */
  readonly webhookRate: number;
  readonly apiUrl: string;
  /** `owner/name` is at `<cloneUrl>/owner/name.git`. */
  readonly cloneUrl: string;
  /** Host name of a repository cache that git reads from; undefined: it reads from `cloneUrl`. */
  readonly repoCache: string | undefined;
  /** Absolute path of a private key to read repositories with; undefined: they are read with a token. */
  readonly sshKey: string | undefined;
  readonly sshKnownHosts: string | undefined;
  /** Requests under way at a time, of one installation. */
  readonly concurrency: number;
  /** Seconds between sweeps while webhooks arrive. */
  readonly sweepInterval: number;
  /** Reads which reviewers administrate their repository, for `permission: admin`. */
  readonly adminReviews: boolean;
  /** `push`: exactly the tested commit; `api`: GitHub merges. */
  readonly landing: 'push' | 'api';
}

const FASTEST_RATE = 100_000;
const DAY = 86_400;

/** @param readFile text of a file. @throws when it cannot be read. @returns undefined: `read` holds the reasons. */
export function readGithubOptions(
  read: OptionReader,
  readFile: (path: string) => string,
): GithubOptions | undefined {
  const section = checkedSection(read, readFile);
  const server = readServer(section);
  const canonicalHostname = read.string('canonical_hostname', server.replace(/:\d+$/, ''));
  if (read.has('canonical_hostname') && !/^[\w.-]+$/.test(canonicalHostname))
    section.refuse('canonical_hostname', `"${canonicalHostname}" is not a host name`);
  const identification = readIdentification(section);
  const webhookTokens = readWebhookTokens(section);
  refuseUnverified(section);
  read.unsupported('repo_retry_timeout', 'commits that a repository cache lacks are fetched until they come');
  const options = {
    server,
    canonicalHostname,
    webhookTokens,
    webhookRate: read.integer('webhook_rate', { min: 1, max: FASTEST_RATE }, 1_000),
    apiUrl: safeUrl(section, 'api_url', read.url('api_url', ['https', 'http'])) ?? apiUrlOf(server),
    cloneUrl: safeUrl(section, 'clone_url', read.url('clone_url', ['https', 'http'])) ?? `https://${server}`,
    repoCache: readRepoCache(section),
    sshKey: read.path('sshkey'),
    sshKnownHosts: read.path('ssh_known_hosts'),
    concurrency: read.integer('max_threads_per_installation', { min: 1, max: 100 }, 20),
    sweepInterval: read.duration('sweep_interval', { min: 1, max: DAY }, 600),
    adminReviews: read.boolean('admin_reviews', false),
    landing: read.oneOf('landing', ['push', 'api'], 'push'),
  };
  if (options.repoCache !== undefined && options.sshKey !== undefined)
    section.refuse('repo_cache', 'stands beside "sshkey": write only one of them');
  if (options.sshKnownHosts !== undefined && options.sshKey === undefined)
    section.refuse('ssh_known_hosts', 'goes with "sshkey"');
  return section.isValid() && identification !== undefined ? { ...options, identification } : undefined;
}

const HOST_NAME = /^[a-z0-9][a-z0-9.-]*(:\d{1,5})?$/i;

function readServer({ read, refuse }: CheckedSection): string {
  const server = read.string('server', 'github.com');
  if (!HOST_NAME.test(server)) refuse('server', `"${server}" is not a host name, such as github.example.org`);
  return server.toLowerCase();
}

function readRepoCache({ read, refuse }: CheckedSection): string | undefined {
  const host = read.string('repo_cache');
  if (host !== undefined && !HOST_NAME.test(host)) refuse('repo_cache', `"${host}" is not a host name`);
  return host;
}

function apiUrlOf(server: string): string {
  return server === 'github.com' ? 'https://api.github.com' : `https://${server}/api/v3`;
}

function readIdentification(section: CheckedSection): GithubIdentification | undefined {
  const { read, refuse } = section;
  const id = read.integer('app_id', { min: 1 }, 0);
  const keyFile = read.path('app_key');
  const token = writtenOrInFile(section, 'api_token', read.secret('api_token'), read.path('api_token_file'));
  const isApp = read.has('app_id') || read.has('app_key');
  if (isApp && (token !== undefined || read.has('api_token_file'))) {
    refuse('api_token', 'stands beside a GitHub App: keep app_id and app_key, or the token');
    return undefined;
  }
  if (!isApp) {
    if (token === undefined && !read.has('api_token') && !read.has('api_token_file'))
      refuse(
        'app_id',
        'is missing: give app_id and app_key of a GitHub App, or api_token; to read public repositories only, use driver = git with baseurl = https://github.com',
      );
    return token && { kind: 'token', token };
  }
  if (!read.has('app_id')) {
    refuse('app_id', 'is missing: app_key goes with it');
    return undefined;
  }
  if (keyFile === undefined) return id === 0 ? undefined : { kind: 'app-without-key', id };
  const key = readKey(section, keyFile);
  return key === undefined || id === 0 ? undefined : { kind: 'app', id, key };
}

/** An RSA key in PEM, as GitHub gives it (PKCS #1) or converted. */
function readKey({ readFile, refuse }: CheckedSection, file: string): Secret | undefined {
  const text = textOfFile('app_key', file, { readFile, refuse });
  if (text === undefined) return undefined;
  try {
    const key = createPrivateKey(text);
    if (key.asymmetricKeyType === 'rsa')
      return new Secret(key.export({ type: 'pkcs8', format: 'pem' }).toString());
  } catch {
    // The reason may quote the file.
  }
  refuse('app_key', `${file} holds no RSA private key in PEM without a passphrase`);
  return undefined;
}

function readWebhookTokens(section: CheckedSection): readonly Secret[] {
  const { read, refuse } = section;
  const present = writtenOrInFile(
    section,
    'webhook_token',
    read.secret('webhook_token'),
    read.path('webhook_token_file'),
  );
  const previous = read.secret('webhook_token_previous');
  if (previous !== undefined && present === undefined)
    refuse('webhook_token_previous', 'goes with "webhook_token", the key that replaces it');
  return [present, previous].filter(token => token !== undefined);
}

function refuseUnverified({ read, refuse }: CheckedSection): void {
  if (read.boolean('verify_ssl', true)) return;
  refuse(
    'verify_ssl',
    'must be true: tokens would go to any machine in between; to trust a certificate of your own, name its CA file in the environment variable NODE_EXTRA_CA_CERTS, and in SSL_CERT_FILE for git',
  );
}

/** Tokens go there: without TLS only on this machine. */
function safeUrl({ refuse }: CheckedSection, option: string, url: string | undefined): string | undefined {
  if (url === undefined) return undefined;
  const { protocol, hostname } = new URL(url);
  if (protocol === 'http:' && !/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname))
    refuse(option, 'must begin with https://: http is for addresses of this machine only');
  return url;
}
