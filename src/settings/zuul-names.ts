/**
 * What a zuul.conf may hold that Gatehouse does not have under that name, so that it is read as it is:
 *
 *     ignored     does nothing here, and nothing is lost by that; one warning names all of them
 *     renamed     counts as another option, unless that one is set, too
 *     refused     ignoring it would let a job, or a client, do more or less than the file says
 *
 * The table is for `parse-settings.ts`, which reads the file, and for `gatehouse migrate`, which rewrites it. Options of connections are their
 * drivers'.
 */

/** What becomes of an option. */
export type OptionFate =
  | { readonly kind: 'ignored'; readonly why: string }
  /** @property needs an option of the same section without which it does nothing. */
  | { readonly kind: 'renamed'; readonly section: string; readonly option: string; readonly needs?: string }
  | { readonly kind: 'refused'; readonly advice: string };

/** What becomes of a section as a whole. */
export type SectionFate = Exclude<OptionFate, { readonly kind: 'renamed' }>;

type Fates = { readonly [option: string]: OptionFate };

const ignored = (why: string): OptionFate => ({ kind: 'ignored', why });
const renamed = (section: string, option: string, needs?: string): OptionFate => ({
  ...{ kind: 'renamed', section, option },
  ...(needs === undefined ? {} : { needs }),
});
const refused = (advice: string): OptionFate => ({ kind: 'refused', advice });

const LOG = ignored('the log goes to standard error, see [log]');
const PROCESS = ignored('the service runs in the foreground; signals and the command line control it');
const STATISTICS = ignored('metrics are at /metrics of the web, and at the port of [metrics]');
const ANSIBLE = ignored('Ansible is installed by the administrator, see [executor] ansible_root');
const LOAD = ignored('an executor takes no builds while a disk has less than 32 MiB or 500 inodes');
const SANDBOX = refused(
  'remove it and let the job bring what it needs: the sandbox shows jobs a read-only system and their own directory',
);
const ZONE = refused('remove it: mergers are in no zone here, each serves all');

const EVERYWHERE: Fates = {
  log_config: LOG,
  pidfile: PROCESS,
  prometheus_port: renamed('metrics', 'port'),
  prometheus_addr: renamed('metrics', 'listen_address', 'prometheus_port'),
};

/** By section, or the first word of its name. */
export const OPTIONS_OF_ZUUL: { readonly [section: string]: Fates } = {
  scheduler: {
    ...EVERYWHERE,
    command_socket: PROCESS,
  },
  merger: {
    ...EVERYWHERE,
    command_socket: PROCESS,
    git_http_low_speed_limit: ignored('git_timeout bounds every git command'),
    git_http_low_speed_time: ignored('git_timeout bounds every git command'),
    zone: ZONE,
  },
  executor: {
    ...EVERYWHERE,
    command_socket: PROCESS,
    state_dir: renamed('scheduler', 'state_dir'),
    hostname: renamed('scheduler', 'host_name'),
    finger_port: ignored('logs are served by webs'),
    private_key_file: ignored('jobs run on the executor, no key is needed to reach it'),
    default_username: ignored('jobs run on the executor'),
    winrm_cert_key_file: ignored('jobs run on the executor'),
    winrm_cert_pem_file: ignored('jobs run on the executor'),
    winrm_operation_timeout_sec: ignored('jobs run on the executor'),
    winrm_read_timeout_sec: ignored('jobs run on the executor'),
    manage_ansible: ANSIBLE,
    ansible_setup_timeout: ANSIBLE,
    min_avail_hdd: LOAD,
    min_avail_inodes: LOAD,
    merge_jobs: ignored('start a merger beside the executor, or not'),
    trusted_ro_paths: SANDBOX,
    trusted_rw_paths: SANDBOX,
    untrusted_ro_paths: SANDBOX,
    untrusted_rw_paths: SANDBOX,
  },
  web: {
    ...EVERYWHERE,
    status_url: ignored('reports link to the page, below [web] root'),
    static_path: ignored('the page is part of the service'),
    static_cache_expiry: ignored('the page says itself how long it may be kept'),
    websocket_url: ignored('the page uses server-sent events of the same address'),
    stats_url: STATISTICS,
    stats_type: STATISTICS,
    zone: ignored('webs read the logs of all executors'),
  },
  database: {
    pool_recycle: ignored('connections are opened anew when they break'),
    table_prefix: ignored('the history has tables of its own'),
    driver: ignored('dburi says which database it is'),
  },
  auth: { private_key: ignored('only the issuer of the tokens needs it') },
};

/** By the first word of the section's name. */
export const SECTIONS_OF_ZUUL: { readonly [word: string]: SectionFate } = {
  fingergw: { kind: 'ignored', why: 'logs are served by webs' },
  statsd: { kind: 'ignored', why: 'metrics are read from /metrics, see [metrics]' },
  webclient: { kind: 'ignored', why: 'the command line takes --url, or $GATEHOUSE_URL' },
  launcher: { kind: 'ignored', why: 'executors offer labels themselves' },
  gearman: { kind: 'ignored', why: 'services meet in ZooKeeper' },
  gearman_server: { kind: 'ignored', why: 'services meet in ZooKeeper' },
  ansible_callback: { kind: 'ignored', why: 'the service has a callback of its own' },
  DEFAULT: { kind: 'refused', advice: 'write its options into the sections that need them' },
};

/** Drivers of Zuul's connections to clouds, which only its launcher uses. */
export const DRIVERS_OF_CLOUDS: ReadonlySet<string> = new Set(['aws', 'azure', 'gce', 'ibmvpc', 'openstack']);
