/**
 * The service's settings: `gatehouse.conf` and the environment, parsed once at the start into readonly values.
 *
 * Everything below is complete (defaults applied), checked, and absolute where it is a path. Defaults live in
 * `read-sections.ts` and `tracing-settings.ts`, next to the option names; `etc/gatehouse.conf` shows all of them.
 * Units are seconds, bytes and megabytes as each field says.
 *
 * The files of this room, in the order of reading:
 *
 *     read-settings        the file, at the start of a process; section-filter: which errors concern one command
 *     parse-settings       text to settings (decode-lines, ini-file, interpolate, raw-option)
 *     zuul-names           what a zuul.conf holds besides: ignored, renamed, refused (translate-zuul applies it)
 *     read-sections        the sections, with names, bounds and defaults; sections of several options have a file of their own:
 *                          zookeeper-section, connection-section, auth-section, history-section, metrics-section,
 *                          keystore-section, log-store-section, nodes-section, notify-section
 *     tracing-settings     `[tracing]` and the standard variables (collector-options, keep-option, otel-environment,
 *                          otel-pairs, otel-variable)
 *     auth-keys, tls-files PEM files, read when a process starts; loopback: addresses of this machine
 *
 * Only `read-settings`, `auth-keys` and `tls-files` read files; the rest is pure.
 */
import type { OptionSection } from '../lib/option-reader.ts';
import type { Secret } from '../lib/secret.ts';
import type { TextPosition } from '../lib/text-position.ts';
import type { HistorySettings } from './history-section.ts';
import type { KeystoreSettings } from './keystore-section.ts';
import type { LogStoreSettings } from './log-store-section.ts';
import type { MetricsSettings } from './metrics-section.ts';
import type { NodesSettings } from './nodes-section.ts';
import type { NotifySettings } from './notify-section.ts';
import type { TracingSettings } from './tracing-settings.ts';

/** One member for each section, `connections`, `auth` and `notify` for all of their kind. */
export interface Settings {
  readonly scheduler: SchedulerSettings;
  readonly store: StoreSettings;
  /** Undefined: projects have no keys. */
  readonly keystore: KeystoreSettings | undefined;
  readonly database: DatabaseSettings;
  readonly history: HistorySettings;
  readonly web: WebSettings;
  readonly merger: MergerSettings;
  readonly executor: ExecutorSettings;
  /** Undefined: logs stay where their builds ran. */
  readonly logStore: LogStoreSettings | undefined;
  readonly nodes: NodesSettings;
  readonly tracing: TracingSettings;
  /** Undefined: only webs serve metrics. */
  readonly metrics: MetricsSettings | undefined;
  readonly log: LogSettings;
  /** In the order of the file. */
  readonly auth: readonly AuthSettings[];
  /** In the order of the file. */
  readonly notify: readonly NotifySettings[];
  /** In the order of the file. */
  readonly connections: readonly ConnectionSection[];
}

/** `[scheduler]`. Every process has them: defaults of other sections lie below `stateDir`. */
export interface SchedulerSettings {
  /** The tenant file (Zuul's main.yaml). Undefined only with `[zookeeper]`: then this process can run no scheduler. */
  readonly tenantConfig: string | undefined;
  /** `tenantConfig` is a program that prints the tenant file. */
  readonly tenantConfigIsScript?: true;
  /** Default place of all durable data. Default `/var/lib/gatehouse`. */
  readonly stateDir: string;
  /** Among build requests of one precedence, the first change of every project comes before the second of any. Default false. */
  readonly relativePriority: boolean;
  /** Seconds that hosts are held where a request does not say how long; 0: until it is deleted. Default 86400, at most `maxHoldExpiration`. */
  readonly defaultHoldExpiration: number;
  /** The most that a request may ask for; 0: no bound. Default 0. */
  readonly maxHoldExpiration: number;
  /** Versions of Ansible that jobs may name, and `default_ansible_version`. Undefined: none, `ansible-version` has no effect. */
  readonly ansible?: { readonly versions: readonly string[]; readonly usual?: string };
  /** What this process calls its machine. Undefined: the machine's own name. */
  readonly hostName?: string;
}

/** The coordination store: with a `[zookeeper]` section the ensemble, else the embedded one. */
export type StoreSettings = EmbeddedStoreSettings | ZooKeeperSettings;

/** One process only. */
export interface EmbeddedStoreSettings {
  readonly kind: 'embedded';
  /** SQLite file. Default `<state_dir>/store.sqlite`. */
  readonly path: string;
  /** Path in the tree below which all of this installation lives. Default `/gatehouse`. */
  readonly root: string;
}

/** Any number of processes. */
export interface ZooKeeperSettings {
  readonly kind: 'zookeeper';
  /** At least one. Default port 2281 with TLS, 2181 without. */
  readonly hosts: readonly ZooKeeperHostSetting[];
  /** Seconds without contact after which other processes take over the work. Default 10; the servers limit it by their tick time. */
  readonly sessionTimeout: number;
  /** Digest authentication: only we can use the nodes we create. Undefined: open to every client that reaches the servers. */
  readonly auth: { readonly user: string; readonly password: Secret } | undefined;
  /** PEM files: our certificate, its key, and the authority of the servers; see tls-files.ts. Undefined: no TLS. */
  readonly tls:
    | { readonly cert: FileSetting; readonly key: FileSetting; readonly ca: FileSetting }
    | undefined;
  /** Path below which all of this installation lives. Default `/gatehouse`. */
  readonly root: string;
}

/** A file that is read later, with the place of its option for errors. */
export interface FileSetting {
  /** Absolute. */
  readonly path: string;
  readonly at: TextPosition;
}

/** One server of the ensemble; each `host:port` is there once. */
export interface ZooKeeperHostSetting {
  /** Name or address; IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
}

/** The history database. */
export type DatabaseSettings =
  /** For the processes of one machine. Default `<state_dir>/history.sqlite`. */
  | { readonly kind: 'sqlite'; readonly path: string }
  /** `postgresql://user:password@host:port/database`, for webs on several machines. */
  | { readonly kind: 'postgresql'; readonly uri: Secret };

/** `[web]`: API, pages, streams and webhooks of a web, and the socket by which commands of this machine reach it. */
export interface WebSettings {
  /** Default `127.0.0.1`: only this machine. */
  readonly listenAddress: string;
  /** Default 9000; 0 takes any free port. */
  readonly port: number;
  /** Public URL without trailing slash, used in reports; undefined = `http://<listen_address>:<port>`, see {@link publicRoot}. */
  readonly root: string | undefined;
  /** Absolute path of the Unix socket for the command line of this machine. Default `<state_dir>/gatehouse.sock`. */
  readonly commandSocket: string;
  /** Addresses and CIDR ranges whose `X-Forwarded-For` is trusted. Default none. */
  readonly trustedProxies: readonly string[];
  /** Connections open at a time; further ones are closed immediately. Default 2000. */
  readonly maxConnections: number;
  /** The same per client; trusted proxies have no such limit. Default 100. */
  readonly maxConnectionsPerAddress: number;
  readonly sse: SseSettings;
}

/** Limits of server-sent event streams. */
export interface SseSettings {
  /** Streams open at a time; further ones get 503. Default 500. */
  readonly maxClients: number;
  /** Streams open at a time per client. Default 50. */
  readonly maxClientsPerAddress: number;
  /** Seconds between comments that keep idle proxies from closing the stream. Default 15. */
  readonly heartbeat: number;
  /** Bytes a slow reader may lag behind before its stream is closed. Default 1 MiB. */
  readonly maxBacklogBytes: number;
  /** Milliseconds for which changes of a tenant are gathered before they are sent. No option sets it: 100. */
  readonly gatherMs: number;
}

/** `[merger]`: how this process uses git, whichever component does. */
export interface MergerSettings {
  /** Bare repository caches. Default `<state_dir>/git`. */
  readonly gitDir: string;
  /** Committer of speculative merges. Default `Gatehouse`. */
  readonly gitUserName: string;
  /** Default `gatehouse@localhost`. */
  readonly gitUserEmail: string;
  /** Seconds one git command may take. Default 300. */
  readonly gitTimeout: number;
  /** Megabytes (10⁶ bytes) of memory one git process may take; undefined: no limit. Default 4000. */
  readonly gitMemoryLimit: number | undefined;
}

type SigtermMethod = 'graceful' | 'immediate';

interface LogServerSettings {
  /** Default `127.0.0.1`; any other needs a token. */
  readonly listenAddress: string;
  /** Default 0: any free port, which the registry announces. */
  readonly port: number;
}

type SandboxMode = 'auto' | 'bubblewrap' | 'none';

/** `[executor]`: directories, sandbox and limits of builds. Webs read `logDir`, `keepLogs` and `logToken` as well. */
export interface ExecutorSettings {
  /** One directory per running build. Default `<state_dir>/jobs`. */
  readonly jobDir: string;
  /** Finished logs, served by the web component. Default `<state_dir>/logs`. */
  readonly logDir: string;
  /** `auto` uses bubblewrap where it works and refuses untrusted jobs where it does not; `none` isolates nothing. */
  readonly sandbox: SandboxMode;
  /** With `auto`, where bubblewrap does not work: run jobs of untrusted projects anyway, without isolation. Default false. */
  readonly allowUnsandboxed: boolean;
  /** Run jobs with `network: true`, on the host's network with its loopback services. Default false: they end with ERROR. */
  readonly allowHostNetwork: boolean;
  /** Limits of the spans a build may hand in (`otlp_relay`); null: none. Default null. */
  readonly otlpRelay: null | { readonly spans: number; readonly bytes: number };
  /** File with variables for all jobs. Undefined: none. */
  readonly variables: string | undefined;
  /** Node labels offered here: a job whose nodeset names labels runs only where all of them are. Default none. */
  readonly labels: readonly string[];
  /** Of the hosts it reaches; `allowUnzoned`: also builds without a zone. Default: none. */
  readonly zone: { readonly zone?: string; readonly allowUnzoned?: true };
  /** A folder with one of each version of Ansible, named like it. Undefined: jobs use the one on their PATH. */
  readonly ansibleRoot: string | undefined;
  /** Seconds after a build ended that its log is kept. Undefined: for ever. */
  readonly keepLogs: number | undefined;
  /** Builds running at a time. Default 4. */
  readonly maxBuilds: number;
  /** Times the processors: load average up to which builds are taken. Default undefined: at any. */
  readonly loadMultiplier: number | undefined;
  /** Percent of the memory from which on builds are taken. Default 5; undefined (`0` in the file): at any. */
  readonly minAvailMem: number | undefined;
  /** Builds that may prepare at a time. Default undefined: any number. */
  readonly maxStartingBuilds: number | undefined;
  /** Bytes of output kept per build; a job that writes more fails. Default 1 GiB. */
  readonly outputMaxBytes: number;
  /** Megabytes (10^6 bytes) a build directory may hold. Default 250; undefined (`-1` in the file) = no limit. */
  readonly diskLimitPerJob: number | undefined;
  /** Files and directories; undefined: no limit. */
  readonly filesLimitPerJob: number | undefined;
  /** Megabytes; undefined: no limit. */
  readonly memoryLimitPerJob: number | undefined;
  /** Megabytes of what jobs leave in their log directory; undefined: no limit. Default 100. */
  readonly logsLimitPerJob: number | undefined;
  /** Megabytes of all workspaces together that it holds for people; undefined: no limit. Default 2000. */
  readonly heldWorkspacesLimit: number | undefined;
  /** Processes and threads of one build at a time. Default 1024. */
  readonly processesLimitPerJob: number;
  /** Seconds, for jobs that set no `timeout`. Default 1800. */
  readonly defaultTimeout: number;
  /** Bare repository caches of this executor. Default those of `[merger] git_dir`. */
  readonly gitDir: string;
  /**
   * The effect of SIGTERM on running builds: `graceful` lets them end, `immediate` kills them (they are tried again). Default
   * graceful with `[zookeeper]`, as in Zuul; immediate with the embedded store, where no other process could continue.
   */
  readonly sigtermMethod: SigtermMethod;
  /** Whether it starts paused, until `gatehouse resume`. Default false. */
  readonly pausedOnStart: boolean;
  /** How webs of other machines read the logs of its builds. Undefined: they cannot. Default: on with `[zookeeper]`. */
  readonly logServer: LogServerSettings | undefined;
  /** Shared by executors and webs; proves to an executor that a request comes from a web. */
  readonly logToken: Secret | undefined;
}

type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

/** `[log]`: what the process writes to standard error. */
export interface LogSettings {
  /** Default `info`. */
  readonly level: LogLevel;
  /** Default `json`, one object per line; `pretty` is for terminals. */
  readonly format: 'pretty' | 'json';
}

/** An `[auth NAME]` section: whose tokens are accepted, and for what. */
export interface AuthSettings {
  /** NAME. */
  readonly name: string;
  /** The realm that clients have to get a token for. */
  readonly realm: string;
  /** `iss` of its tokens. */
  readonly issuer: string;
  /** `aud` of its tokens. Default `clientId`. */
  readonly audience: string;
  /** What clients sign in as. */
  readonly clientId: string;
  /** Where clients sign in. Default `issuer`. */
  readonly authority: string;
  readonly key:
    | { readonly kind: 'HS256'; readonly secret: Secret }
    /** PEM file of a public key. */
    | { readonly kind: 'RS256'; readonly file: FileSetting }
    /** Read from the issuer when a token comes; https, or http on this machine. */
    | { readonly kind: 'RS256withJWKS'; readonly keysUrl: string }
    | {
        readonly kind: 'OpenIDConnect';
        /** Undefined: the issuer's discovery document names it. */
        readonly keysUrl: string | undefined;
        /** What clients ask for when they sign in. Default `openid profile`. */
        readonly scope: string;
        /** Whether clients ask the issuer about the user. Default true. */
        readonly loadUserInfo: boolean;
      };
  /** The claim that names the user. Default `sub`. */
  readonly userClaim: string;
  /** Seconds since its issue (`iat`) after which a token is invalid, regardless of `exp`. Undefined: `exp` alone decides. */
  readonly maxValidity: number | undefined;
  /** Seconds by which clocks may differ. Default 0. */
  readonly skew: number;
  /** Whether its tokens may say what their users are allowed (`zuul.admin`). Default false, as in Zuul. */
  readonly mayGrant: boolean;
  readonly isDefault: boolean;
}

/**
 * A `[connection NAME]` section. Its options belong to the driver: pass the section to `optionReader`. `driver` is no longer
 * among them.
 */
export interface ConnectionSection extends OptionSection {
  /** NAME: the name of the connection in configuration. */
  readonly connection: string;
  /** Such as `git`. */
  readonly driver: string;
}

/** The public URL of the web component. @param actualPort the bound port, for port 0. */
export function publicRoot({ root, listenAddress, port }: WebSettings, actualPort = port): string {
  if (root !== undefined) return root;
  const host = listenAddress.includes(':') ? `[${listenAddress}]` : listenAddress;
  return `http://${host}:${actualPort}`;
}
