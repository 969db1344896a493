/**
 * Common to all commands that ask the service: the options `--url`, `--config`, `--tenant`, `--auth-token`, `--json`, `--no-color`,
 * `--verbose`, the API client and tenant they select, and the command's own trace.
 *
 *     to read              HTTP at --url
 *     to change something  HTTP at --url with a token; without one the Unix socket of this machine's web (find-socket.ts)
 */
import { type Command, InvalidArgumentError } from 'commander';
import { didYouMean } from '../../lib/nearest-name.ts';
import type { Secret } from '../../lib/secret.ts';
import { isLoopback } from '../../settings/loopback.ts';
import { type Api, ApiError, createApi } from '../client/api.ts';
import type { Endpoint } from '../client/endpoint.ts';
import { handOverSpans } from '../client/hand-over-spans.ts';
import { parseToken } from '../client/identity.ts';
import type { Io } from '../terminal/io.ts';
import { styleOf, type TerminalStyle } from '../terminal/style.ts';
import { DEFAULT_CONFIG, findSocket } from './find-socket.ts';
import { type Refused, refused } from './refused.ts';

const DEFAULT_URL = 'http://127.0.0.1:9000';

/** As the parser leaves them: absent means not given, before environment and defaults. */
export interface AskOptions {
  readonly url?: string;
  readonly config?: string;
  readonly tenant?: string;
  readonly authToken?: string;
  readonly json?: boolean;
  readonly verbose?: boolean;
  /** False: `--no-color`. */
  readonly color: boolean;
}

/** What a command about a tenant works with. */
export interface Session extends ServiceSession {
  /** Exists. */
  readonly tenant: string;
}

/** What a command works with; {@link withService} makes it. */
export interface ServiceSession {
  readonly io: Io;
  readonly api: Api;
  /** Print JSON instead of text. */
  readonly json: boolean;
  /** Read anew for each picture: terminals are resized. */
  readonly style: () => TerminalStyle;
}

/** Options of commands that concern one tenant. @param json as in {@link addServiceOptions}. @returns the command itself. */
export function addAskOptions(command: Command, json?: string): Command {
  return addServiceOptions(command, json).option(
    '--tenant <name>',
    'tenant (default: the only one, or the one that has the project of this checkout)',
  );
}

/** Options of commands that concern the installation, not a tenant. @param json flags of that option, where it takes names of fields. */
export function addServiceOptions(command: Command, json = '--json'): Command {
  return command
    .option(
      '--url <address>',
      `address of the service (default: $GATEHOUSE_URL, else ${DEFAULT_URL})`,
      parseAddress,
    )
    .option(
      '-c, --config <file>',
      `settings of the service on this machine, which name its socket (default: $GATEHOUSE_CONFIG, else ${DEFAULT_CONFIG})`,
    )
    .option(
      '--auth-token <token>',
      'token that identifies you, see "create-auth-token" (default: $GATEHOUSE_AUTH_TOKEN, $ZUUL_AUTH_TOKEN)',
    )
    .option(
      json,
      json === '--json' ? 'print JSON' : 'print JSON, with these fields only: names with commas between',
    )
    .option('--no-color', 'print without colours; also NO_COLOR=1')
    .option('--verbose', "also report whether the command's own trace was sent");
}

/** @throws InvalidArgumentError */
function parseAddress(text: string): string {
  const address = httpAddress(text);
  if (address === undefined)
    throw new InvalidArgumentError(`It must be an http address such as ${DEFAULT_URL}.`);
  return address;
}

/** Without trailing slash; undefined: not an http address. */
function httpAddress(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  return text.replace(/\/+$/, '');
}

/** Prints one error line. @returns exit status 1. */
export function complain({ stderr }: Pick<Io, 'stderr'>, text: string): 1 {
  stderr.write(`error: ${text}\n`);
  return 1;
}

/** `act`: the command changes something, which needs a token or the socket. */
export type Purpose = 'read' | 'act';

/** Runs a command that needs no tenant and prints its refusal or error, if any. @returns the exit status. */
export async function withService(
  io: Io,
  options: AskOptions,
  command: (session: ServiceSession) => Promise<number | Refused>,
  purpose: Purpose = 'read',
): Promise<number> {
  const url = options.url ?? addressFrom(io.environment);
  if (typeof url !== 'string') return complain(io, url.text);
  const token = tokenFrom(options, io.environment);
  if (token !== undefined && 'kind' in token) return complain(io, token.text);
  if (token !== undefined && isOpenToAll(url))
    io.stderr.write(`warning: the token travels unencrypted to ${url}; use https\n`);
  const http: Endpoint = { kind: 'http', root: url };
  const authority: Endpoint | Refused = token === undefined ? findSocket(options, io.environment) : http;
  if (purpose === 'act' && authority.kind === 'refused') return complain(io, authority.text);
  const endpoint = purpose === 'act' && authority.kind !== 'refused' ? authority : http;
  const { trace } = io;
  const status = await outcomeOf(io, command, {
    io,
    api: createApi(endpoint, { token, trace }),
    json: options.json === true,
    style: () => styleOf(io, options.color),
  });
  await trace?.end(status, async spans => {
    const problem =
      authority.kind === 'refused'
        ? `not sent: ${authority.text}`
        : await handOverSpans(authority, { token }, spans);
    if (options.verbose !== true) return;
    const [first] = spans;
    io.stderr.write(`trace ${first?.traceId}: ${problem ?? `${spans.length} spans sent`}\n`);
  });
  return status;
}

async function outcomeOf(
  io: Io,
  command: (session: ServiceSession) => Promise<number | Refused>,
  session: ServiceSession,
): Promise<number> {
  try {
    const outcome = await command(session);
    return typeof outcome === 'number' ? outcome : complain(io, outcome.text);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return complain(io, error.message);
  }
}

function addressFrom({ GATEHOUSE_URL: variable = '' }: Io['environment']): string | Refused {
  if (variable === '') return DEFAULT_URL;
  return (
    httpAddress(variable) ??
    refused(`GATEHOUSE_URL is "${variable}", which is not an http address such as ${DEFAULT_URL}`)
  );
}

/** Unencrypted and not on this machine: others on the network can read the token. */
function isOpenToAll(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === 'http:' && !isLoopback(hostname.replace(/^\[|\]$/g, ''));
}

/** Undefined: none is given. An invalid token is not printed: it may be another secret. */
function tokenFrom({ authToken }: AskOptions, environment: Io['environment']): Secret | Refused | undefined {
  const { GATEHOUSE_AUTH_TOKEN, ZUUL_AUTH_TOKEN } = environment;
  const places = { '--auth-token': authToken, GATEHOUSE_AUTH_TOKEN, ZUUL_AUTH_TOKEN };
  const [place, text] = Object.entries(places).find(([, value = '']) => value !== '') ?? [];
  return text === undefined ? undefined : (parseToken(text) ?? refused(`${place} does not hold a token`));
}

/** As {@link withService}, for its tenant. */
export function withTenantService(
  io: Io,
  options: AskOptions,
  command: (session: Session) => Promise<number | Refused>,
  purpose: Purpose = 'read',
): Promise<number> {
  const withTenant = async (service: ServiceSession) => {
    const chosen = await chooseTenant(service, options.tenant);
    return chosen.kind === 'refused' ? chosen : command({ ...service, tenant: chosen.tenant });
  };
  return withService(io, options, withTenant, purpose);
}

async function chooseTenant(
  { api, io }: ServiceSession,
  wanted: string | undefined,
): Promise<{ readonly kind: 'tenant'; readonly tenant: string } | Refused> {
  const answer = await api.get<unknown>('/api/tenants');
  const names = Array.isArray(answer)
    ? answer.flatMap(each => (typeof each?.name === 'string' ? [String(each.name)] : []))
    : undefined;
  if (names === undefined)
    throw new ApiError(
      0,
      `the server at ${api.root} does not answer like Gatehouse; name another address with --url`,
    );
  const [only, ...others] = names;
  if (only === undefined) {
    return refused(
      `the service at ${api.root} has no tenant yet; it may still be reading its configuration, see ${api.root}/health/ready`,
    );
  }
  if (wanted !== undefined) {
    if (names.includes(wanted)) return { kind: 'tenant', tenant: wanted };
    return refused(
      `there is no tenant "${wanted}"${didYouMean(wanted, names) || `; there are: ${names.join(', ')}`}`,
    );
  }
  if (others.length > 0) {
    const { tenantOfCheckout } = await import('./checkout-project.ts');
    const tenant = await tenantOfCheckout(api, names, io.directory ?? process.cwd());
    if (tenant !== undefined) return { kind: 'tenant', tenant };
    return refused(`there are several tenants, choose one with --tenant: ${names.join(', ')}`);
  }
  return { kind: 'tenant', tenant: only };
}

/** API path below a tenant. */
export function tenantPath({ tenant }: Pick<Session, 'tenant'>, rest: string): string {
  return `/api/tenant/${encodeURIComponent(tenant)}/${rest}`;
}

/** URL of an item's page. */
export function itemAddress({ api, tenant }: Pick<Session, 'api' | 'tenant'>, uuid: string): string {
  return `${api.root}/t/${encodeURIComponent(tenant)}/item/${uuid}`;
}

/** URL of a pipeline's page. */
export function pipelineAddress({ api, tenant }: Pick<Session, 'api' | 'tenant'>, pipeline: string): string {
  return `${api.root}/t/${encodeURIComponent(tenant)}/pipeline/${encodeURIComponent(pipeline)}`;
}
