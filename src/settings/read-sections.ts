/** The sections of `gatehouse.conf`, each with its option names, bounds and defaults. Zuul's names where Zuul has one. */
import { join, resolve } from 'node:path';
import { isAddressRange } from '../lib/address-ranges.ts';
import type { OptionReader } from '../lib/option-reader.ts';
import { Secret } from '../lib/secret.ts';
import { excessOfSocketPath } from '../lib/unix-socket-path.ts';
import { isZone, ZONE_ADVICE } from '../lib/zone-name.ts';
import { isLoopback } from './loopback.ts';
import type {
  DatabaseSettings,
  EmbeddedStoreSettings,
  ExecutorSettings,
  LogSettings,
  MergerSettings,
  SchedulerSettings,
  WebSettings,
} from './settings.ts';

const MEBIBYTE = 1_048_576;
/** Milliseconds: more would be seen, less would send each step of a turn apart. */
const GATHER_MS = 100;

/** @param alone one process is the whole service, so that it always needs the tenant file. */
export function readScheduler(read: OptionReader, alone: boolean): SchedulerSettings {
  return {
    ...tenantConfigOf(read, alone),
    stateDir: read.path('state_dir', '/var/lib/gatehouse'),
    relativePriority: read.boolean('relative_priority', false),
    ...holdExpirationsOf(read),
    ...ansibleOf(read),
    ...hostNameOf(read, read.string('host_name', '')),
  };
}

function holdExpirationsOf(
  read: OptionReader,
): Pick<SchedulerSettings, 'defaultHoldExpiration' | 'maxHoldExpiration'> {
  const most = read.duration('max_hold_expiration', { min: 0, max: LONGEST_HOLD }, 0);
  const given = read.duration('default_hold_expiration', { min: 0, max: LONGEST_HOLD }, DAY);
  const isBeyond = most > 0 && (given === 0 || given > most);
  return { defaultHoldExpiration: isBeyond ? most : given, maxHoldExpiration: most };
}

const DAY = 86_400;
/** Ten years, as the route has it. */
const LONGEST_HOLD = 315_360_000;

function tenantConfigOf(
  read: OptionReader,
  alone: boolean,
): Pick<SchedulerSettings, 'tenantConfig' | 'tenantConfigIsScript'> {
  const script = read.path('tenant_config_script');
  if (read.has('tenant_config') && script !== undefined)
    read.refuse('tenant_config_script', 'tenant_config names a tenant file already; remove one of them');
  if (read.has('tenant_config') || (alone && script === undefined)) read.required('tenant_config');
  const file = read.path('tenant_config');
  return script === undefined ? { tenantConfig: file } : { tenantConfig: script, tenantConfigIsScript: true };
}

/** A default alone does nothing: a zuul.conf may have one. */
function ansibleOf(read: OptionReader): Pick<SchedulerSettings, 'ansible'> {
  const versions = read.words('ansible_versions');
  const usual = read.string('default_ansible_version', '');
  if (versions.length === 0) return {};
  if (usual === '') return { ansible: { versions } };
  if (!versions.includes(usual))
    read.refuse('default_ansible_version', `it is not one of ansible_versions (${versions.join(', ')})`);
  return { ansible: { versions, usual } };
}

/** It is part of names and addresses in traces, and of a scheduler's own name. */
function hostNameOf(read: OptionReader, hostName: string): Pick<SchedulerSettings, 'hostName'> {
  if (hostName === '') return {};
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/.test(hostName))
    read.refuse(
      'host_name',
      'it must be 1 to 63 letters, digits, ".", "_" and "-", and begin with a letter or digit',
    );
  return { hostName };
}

/** `[store]`; read only when there is no `[zookeeper]`. */
export function readStore(read: OptionReader, stateDir: string): EmbeddedStoreSettings {
  const root = read.string('root', '/gatehouse');
  if (!/^(\/[\w.-]+)+$/.test(root)) read.refuse('root', `"${root}" is not a path such as /gatehouse`);
  return { kind: 'embedded', path: read.path('path', join(stateDir, 'store.sqlite')), root };
}

/**
 * `[database]`: `dburi` in SQLAlchemy's form, as in zuul.conf. Without it the history is a SQLite file below `stateDir`.
 *
 * @param directory a relative SQLite path counts from here: the directory of the settings file.
 */
export function readDatabase(read: OptionReader, directory: string, stateDir: string): DatabaseSettings {
  const uri = read.string('dburi');
  const fallback: DatabaseSettings = { kind: 'sqlite', path: join(stateDir, 'history.sqlite') };
  if (uri === undefined) return fallback;
  const [, scheme, rest] = /^([a-z0-9]+)(?:\+[a-z0-9]+)?:\/\/(.*)$/s.exec(uri) ?? [];
  if (scheme === undefined || rest === undefined) {
    read.refuse('dburi', 'is not a database URI such as sqlite:////var/lib/gatehouse/history.sqlite');
    return fallback;
  }
  if (scheme === 'postgresql' || scheme === 'postgres') {
    // The driver SQLAlchemy would use (postgresql+psycopg2) does not matter here.
    const plain = `postgresql://${rest}`;
    if (!URL.canParse(plain) || new URL(plain).pathname.length < 2)
      read.refuse('dburi', 'is not of the form postgresql://user:password@host:port/database');
    return { kind: 'postgresql', uri: new Secret(plain) };
  }
  if (scheme !== 'sqlite') {
    read.refuse('dburi', `"${scheme}" is not supported; use postgresql://... or sqlite:////absolute/path`);
    return fallback;
  }
  // As in SQLAlchemy: three slashes start a relative path, four an absolute one.
  const file = rest.startsWith('/') ? rest.slice(1) : '';
  if (file === '')
    read.refuse('dburi', 'names no file; write sqlite:///relative/path or sqlite:////absolute/path');
  return { kind: 'sqlite', path: resolve(directory, file) };
}

/** `[web]`. @param stateDir default place of the command socket. */
export function readWeb(read: OptionReader, stateDir: string): WebSettings {
  const listenAddress = read.string('listen_address', '127.0.0.1');
  if (!/^[\w.:-]+$/.test(listenAddress)) {
    read.refuse('listen_address', `"${listenAddress}" is not an address; the port has an option of its own`);
  }
  return {
    listenAddress,
    port: read.integer('port', { min: 0, max: 65_535 }, 9000),
    root: read.url('root', ['http', 'https']),
    commandSocket: readCommandSocket(read, stateDir),
    trustedProxies: readTrustedProxies(read),
    maxConnections: read.integer('max_connections', { min: 1, max: 100_000 }, 2000),
    maxConnectionsPerAddress: read.integer('max_connections_per_address', { min: 1, max: 100_000 }, 100),
    sse: {
      maxClients: read.integer('sse_max_clients', { min: 1, max: 100_000 }, 500),
      maxClientsPerAddress: read.integer('sse_max_clients_per_address', { min: 1, max: 100_000 }, 50),
      heartbeat: read.duration('sse_heartbeat', { min: 1, max: 600 }, 15),
      maxBacklogBytes: read.integer('sse_max_backlog_bytes', { min: 4096 }, MEBIBYTE),
      gatherMs: GATHER_MS,
    },
  };
}

function readCommandSocket(read: OptionReader, stateDir: string): string {
  const path = read.path('command_socket', join(stateDir, 'gatehouse.sock'));
  const excess = excessOfSocketPath(path);
  if (excess > 0)
    read.refuse(
      'command_socket',
      `${path} is ${excess} bytes too long for a Unix socket; set it to a shorter path, such as /run/gatehouse/web.sock`,
    );
  return path;
}

function readTrustedProxies(read: OptionReader): readonly string[] {
  const ranges = read.words('trusted_proxies');
  for (const range of ranges.filter(each => !isAddressRange(each)))
    read.refuse('trusted_proxies', `"${range}" is no address or range such as 127.0.0.1 or 10.0.0.0/8`);
  return ranges;
}

/** `[merger]`: mirrors and limits of git, which executors and schedulers of the process use as well. */
export function readMerger(read: OptionReader, stateDir: string): MergerSettings {
  const memory = read.integer('git_memory_limit', { min: -1 }, 4000);
  return {
    gitDir: read.path('git_dir', join(stateDir, 'git')),
    gitUserName: identity(read, 'git_user_name', 'Gatehouse'),
    gitUserEmail: identity(read, 'git_user_email', 'gatehouse@localhost'),
    gitTimeout: read.duration('git_timeout', { min: 1, max: 86_400 }, 300),
    gitMemoryLimit: noneForMinusOne(read, 'git_memory_limit', memory),
  };
}

/** Git refuses identities that are empty or hold `<`, `>` or a line end, but only at the first merge. */
function identity(read: OptionReader, option: string, fallback: string): string {
  const given = read.string(option, fallback);
  if (!/^[^<>\n]+$/.test(given)) read.refuse(option, `"${given}" is empty or holds < > or a line end`);
  return given;
}

/** Values of other sections on which defaults of `[executor]` depend. */
export interface ExecutorDefaults {
  readonly stateDir: string;
  /** `[merger] git_dir`: shared by default. */
  readonly gitDir: string;
  /** See {@link readScheduler}. */
  readonly alone: boolean;
}

/** `[executor]`. A limit of `-1` means none and is read as undefined; 0 is refused, since no job could run. */
export function readExecutor(
  read: OptionReader,
  { stateDir, gitDir, alone }: ExecutorDefaults,
): ExecutorSettings {
  const disk = read.integer('disk_limit_per_job', { min: -1 }, 250);
  const files = read.integer('files_limit_per_job', { min: -1 }, 250_000);
  const memory = read.integer('memory_limit_per_job', { min: -1 }, -1);
  const logs = read.integer('logs_limit_per_job', { min: -1 }, 100);
  const held = read.integer('held_workspaces_limit', { min: -1 }, 2000);
  return {
    jobDir: read.path('job_dir', join(stateDir, 'jobs')),
    logDir: read.path('log_dir', join(stateDir, 'logs')),
    keepLogs:
      read.string('keep_logs', '') === '' ? undefined : read.duration('keep_logs', { min: 86_400 }, 86_400),
    sandbox: read.oneOf('sandbox', ['auto', 'bubblewrap', 'none'], 'auto'),
    allowUnsandboxed: read.boolean('allow_unsandboxed', false),
    allowHostNetwork: read.boolean('allow_host_network', false),
    otlpRelay: readRelay(read),
    variables: read.string('variables', '') === '' ? undefined : read.path('variables'),
    labels: read.words('labels'),
    zone: readZone(read),
    ansibleRoot: read.string('ansible_root', '') === '' ? undefined : read.path('ansible_root'),
    maxBuilds: read.integer('max_builds', { min: 1, max: 10_000 }, 4),
    ...readGovernor(read),
    outputMaxBytes: read.integer('output_max_bytes', { min: 4096 }, 1024 * MEBIBYTE),
    diskLimitPerJob: noneForMinusOne(read, 'disk_limit_per_job', disk),
    filesLimitPerJob: noneForMinusOne(read, 'files_limit_per_job', files),
    memoryLimitPerJob: noneForMinusOne(read, 'memory_limit_per_job', memory),
    logsLimitPerJob: logs === -1 ? undefined : logs,
    heldWorkspacesLimit: held === -1 ? undefined : held,
    processesLimitPerJob: read.integer('processes_limit_per_job', { min: 16, max: 1_000_000 }, 1024),
    defaultTimeout: read.duration('default_timeout', { min: 1, max: 7 * 86_400 }, 1800),
    gitDir: read.path('git_dir', gitDir),
    sigtermMethod: read.oneOf('sigterm_method', ['graceful', 'immediate'], alone ? 'immediate' : 'graceful'),
    pausedOnStart: read.boolean('paused_on_start', false),
    ...readLogServer(read, alone),
  };
}

function readZone(read: OptionReader): ExecutorSettings['zone'] {
  const zone = read.string('zone', '');
  const allowUnzoned = read.boolean('allow_unzoned', false);
  if (zone === '') {
    if (allowUnzoned) read.refuse('allow_unzoned', 'does nothing without zone');
    return {};
  }
  if (!isZone(zone)) read.refuse('zone', `"${zone}" cannot be a zone; ${ZONE_ADVICE}`);
  if (!allowUnzoned && read.words('labels').length > 0)
    read.refuse('labels', 'does nothing with zone: nodes of executors have none; set allow_unzoned as well');
  return allowUnzoned ? { zone, allowUnzoned } : { zone };
}

/** 0 means that the sensor shuts nothing. */
function readGovernor(
  read: OptionReader,
): Pick<ExecutorSettings, 'loadMultiplier' | 'minAvailMem' | 'maxStartingBuilds'> {
  return {
    loadMultiplier: read.number('load_multiplier', { min: 0, max: 1_000 }, 0) || undefined,
    minAvailMem: read.number('min_avail_mem', { min: 0, max: 99 }, 5) || undefined,
    maxStartingBuilds: read.integer('max_starting_builds', { min: 0, max: 10_000 }, 0) || undefined,
  };
}

function noneForMinusOne(read: OptionReader, option: string, limit: number): number | undefined {
  if (limit === 0) read.refuse(option, '0 leaves no room for any job; -1 means no limit');
  return limit === -1 ? undefined : limit;
}

function readRelay(read: OptionReader): ExecutorSettings['otlpRelay'] {
  const on = read.boolean('otlp_relay', false);
  const spans = read.integer('otlp_relay_max_spans', { min: 1, max: 1_000_000 }, 10_000);
  const bytes = read.integer('otlp_relay_max_bytes', { min: 4096, max: 1024 * MEBIBYTE }, 8 * MEBIBYTE);
  return on ? { spans, bytes } : null;
}

function readLogServer(read: OptionReader, alone: boolean): Pick<ExecutorSettings, 'logServer' | 'logToken'> {
  const listenAddress = read.string('log_listen_address', '127.0.0.1');
  const port = read.integer('log_port', { min: 0, max: 65_535 }, 0);
  const logToken = read.secret('log_token');
  if (!/^[\w.:-]+$/.test(listenAddress))
    read.refuse('log_listen_address', `"${listenAddress}" is not an address; the port is log_port`);
  else if (!isLoopback(listenAddress) && logToken === undefined)
    read.refuse(
      'log_listen_address',
      'is reachable from elsewhere; set log_token as well, here and at the webs',
    );
  const wanted = !alone || read.has('log_listen_address') || read.has('log_port');
  return { logServer: wanted ? { listenAddress, port } : undefined, logToken };
}

/** `[log]`: the process's own log, not the logs of builds. */
export function readLog(read: OptionReader): LogSettings {
  return {
    level: read.oneOf('level', ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], 'info'),
    format: read.oneOf('format', ['pretty', 'json'], 'json'),
  };
}
