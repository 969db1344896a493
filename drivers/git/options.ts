/** The options of `[connection NAME]` with `driver = git`, read once at the start. */
import type { OptionReader } from '../../src/lib/option-reader.ts';
import type { Secret } from '../../src/lib/secret.ts';
import { type BranchTemplate, parseBranchTemplate, templateClash } from './branch-template.ts';
import { baseUrlProblem } from './project-url.ts';
import type { Templates } from './ref-view.ts';

/** Valid, and with all defaults applied. */
export interface GitDriverOptions {
  /** Directory or URL below which the projects are; see `project-url.ts`. Required. */
  readonly baseurl: string;
  /** Default: the connection's name. */
  readonly canonicalHostname: string;
  /** `proposals`, and `approvals`, default `gate/{branch}/{topic}`; undefined: the connection only reads. */
  readonly templates: Templates | undefined;
  /** Seconds between polls of the remote; 0: none after the first. Default 60, of a connection that only reads 7200. */
  readonly pollInterval: number;
  /** Key of webhook signatures; undefined: no webhook. */
  readonly webhookToken: Secret | undefined;
  /** Webhooks per second; ten times as many in a burst. Default 100. */
  readonly webhookRate: number;
  /** User of `httpPassword`. Default `git`. */
  readonly httpUser: string;
  /** Password or token for http(s) URLs; undefined: git goes in without. */
  readonly httpPassword: Secret | undefined;
  /** Absolute path of a private key; undefined: ssh's agent or defaults. */
  readonly sshKey: string | undefined;
  /** Absolute path of a known_hosts file; undefined: ssh's defaults. */
  readonly sshKnownHosts: string | undefined;
}

const LONGEST_INTERVAL = 86_400;
const FASTEST_RATE = 100_000;

/** @returns undefined when something was invalid; the reader holds the reasons. */
export function readOptions(name: string, read: OptionReader): GitDriverOptions | undefined {
  let valid = true;
  const refuse = (option: string, reason: string) => {
    valid = false;
    read.refuse(option, reason);
  };
  const baseurl = read.required('baseurl');
  const problem = baseurl === '' ? undefined : baseUrlProblem(baseurl);
  if (problem !== undefined) refuse('baseurl', problem);
  const canonicalHostname = read.string('canonical_hostname', name);
  if (!/^[\w.-]+$/.test(canonicalHostname))
    refuse('canonical_hostname', `"${canonicalHostname}" is not a host name`);
  const readOnly = !read.has('proposals');
  const proposals = readOnly ? undefined : template(read, 'proposals', '', refuse);
  const approvals = readOnly ? undefined : template(read, 'approvals', 'gate/{branch}/{topic}', refuse);
  if (readOnly && read.has('approvals'))
    refuse('approvals', 'goes with "proposals": without that the connection only reads');
  const options = {
    baseurl,
    canonicalHostname,
    pollInterval: pollInterval(read, readOnly ? 7_200 : 60, refuse),
    webhookToken: read.secret('webhook_token'),
    webhookRate: read.integer('webhook_rate', { min: 1, max: FASTEST_RATE }, 100),
    httpUser: read.string('http_user', 'git'),
    httpPassword: read.secret('http_password'),
    sshKey: absolutePath(read, 'ssh_key', refuse),
    sshKnownHosts: absolutePath(read, 'ssh_known_hosts', refuse),
  };
  for (const option of ['git_user_name', 'git_user_email']) {
    read.unsupported(option, `notes and merges carry the ${option} of [merger]`);
  }
  if (baseurl === '') return undefined;
  if (options.httpPassword !== undefined && !/^https?:/i.test(baseurl))
    refuse('http_password', 'is for a baseurl that begins with https:// or http://');
  if (!/^[^:\p{Cc}]+$/u.test(options.httpUser))
    refuse('http_user', 'is empty, or holds a colon or a control character');
  const templates = proposals === undefined || approvals === undefined ? undefined : { proposals, approvals };
  const clash = templates === undefined ? undefined : templateClash(templates.proposals, templates.approvals);
  if (clash !== undefined) refuse(read.has('approvals') ? 'approvals' : 'proposals', clash);
  return valid ? { ...options, templates } : undefined;
}

/** `poll_delay` is Zuul's name of it. */
function pollInterval(read: OptionReader, fallback: number, refuse: Refuse): number {
  const range = { min: 0, max: LONGEST_INTERVAL };
  if (read.has('poll_delay') && read.has('poll_interval'))
    refuse('poll_delay', 'is Zuul\'s name of "poll_interval"; write only one of them');
  const delay = read.duration('poll_delay', range, fallback);
  return read.duration('poll_interval', range, delay);
}

type Refuse = (option: string, reason: string) => void;

function template(
  read: OptionReader,
  option: string,
  fallback: string,
  refuse: Refuse,
): BranchTemplate | undefined {
  const parsed = parseBranchTemplate(read.string(option, fallback));
  if (parsed.kind === 'template') return parsed.template;
  refuse(option, parsed.reason);
  return undefined;
}

function absolutePath(read: OptionReader, option: string, refuse: Refuse): string | undefined {
  const path = read.string(option);
  if (path !== undefined && !path.startsWith('/')) refuse(option, `"${path}" is not an absolute path`);
  return path;
}
