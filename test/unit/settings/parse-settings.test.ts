import { hostname } from 'node:os';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { machineName } from '../../../src/cmd/service/own-installation.ts';
import { optionReader, showOptionProblem } from '../../../src/lib/option-reader.ts';
import { parseSettings } from '../../../src/settings/parse-settings.ts';
import { publicRoot, type Settings } from '../../../src/settings/settings.ts';

const MINIMAL = '[scheduler]\ntenant_config = tenants.yaml\n';

function parse(text: string | Uint8Array, environment: Record<string, string> = {}) {
  const content = typeof text === 'string' ? new TextEncoder().encode(text) : text;
  return parseSettings({ content, file: 'gatehouse.conf', directory: '/srv/etc', environment });
}

function settingsOf(text: string, environment: Record<string, string> = {}): Settings {
  const parsed = parse(text, environment);
  if (parsed.kind === 'invalid') throw new Error(parsed.problems.map(showOptionProblem).join('\n'));
  return parsed.settings;
}

function errorsOf(text: string | Uint8Array, environment: Record<string, string> = {}): readonly string[] {
  const parsed = parse(text, environment);
  return parsed.kind === 'invalid' ? parsed.problems.map(showOptionProblem) : [];
}

describe('the name of the machine', () => {
  it('is the one of the settings, so that two executors of one machine differ', () => {
    const named = (name: string) => machineName(settingsOf(`${MINIMAL}host_name = ${name}\n`));
    expect([named('ci2-a'), named('ci2-b')]).toEqual(['ci2-a', 'ci2-b']);
    expect(machineName(settingsOf(MINIMAL))).toBe(hostname());
  });

  it.each(['ci2/a', '-ci2', 'c i2', 'a'.repeat(64)])(
    'is refused where a name built on it would break: %s',
    name => {
      expect(errorsOf(`${MINIMAL}host_name = ${name}\n`)).toEqual([expect.stringContaining('host_name')]);
    },
  );
});

it.each([
  ['', 86_400, 0],
  ['max_hold_expiration = 1h', 3600, 3600],
  ['max_hold_expiration = 2d', 86_400, 172_800],
  ['default_hold_expiration = 0', 0, 0],
  ['default_hold_expiration = 0\nmax_hold_expiration = 60', 60, 60],
])('hosts are held no longer than the most that is set (%j)', (lines, usual, most) => {
  expect(settingsOf(`${MINIMAL}${lines}\n`).scheduler).toMatchObject({
    defaultHoldExpiration: usual,
    maxHoldExpiration: most,
  });
});

describe('defaults', () => {
  it('one required option is enough, everything else has a default', () => {
    expect(settingsOf(MINIMAL)).toEqual({
      scheduler: {
        tenantConfig: '/srv/etc/tenants.yaml',
        stateDir: '/var/lib/gatehouse',
        relativePriority: false,
        defaultHoldExpiration: 86_400,
        maxHoldExpiration: 0,
      },
      store: { kind: 'embedded', path: '/var/lib/gatehouse/store.sqlite', root: '/gatehouse' },
      database: { kind: 'sqlite', path: '/var/lib/gatehouse/history.sqlite' },
      history: { keep: undefined },
      web: {
        listenAddress: '127.0.0.1',
        port: 9000,
        root: undefined,
        commandSocket: '/var/lib/gatehouse/gatehouse.sock',
        trustedProxies: [],
        maxConnections: 2000,
        maxConnectionsPerAddress: 100,
        sse: {
          maxClients: 500,
          maxClientsPerAddress: 50,
          heartbeat: 15,
          maxBacklogBytes: 1_048_576,
          gatherMs: 100,
        },
      },
      merger: {
        gitDir: '/var/lib/gatehouse/git',
        gitUserName: 'Gatehouse',
        gitUserEmail: 'gatehouse@localhost',
        gitTimeout: 300,
        gitMemoryLimit: 4000,
      },
      executor: {
        jobDir: '/var/lib/gatehouse/jobs',
        logDir: '/var/lib/gatehouse/logs',
        keepLogs: undefined,
        sandbox: 'auto',
        allowUnsandboxed: false,
        allowHostNetwork: false,
        variables: undefined,
        labels: [],
        zone: {},
        ansibleRoot: undefined,
        otlpRelay: null,
        maxBuilds: 4,
        loadMultiplier: undefined,
        minAvailMem: 5,
        maxStartingBuilds: undefined,
        outputMaxBytes: 1_073_741_824,
        diskLimitPerJob: 250,
        filesLimitPerJob: 250_000,
        memoryLimitPerJob: undefined,
        logsLimitPerJob: 100,
        heldWorkspacesLimit: 2000,
        processesLimitPerJob: 1024,
        defaultTimeout: 1800,
        gitDir: '/var/lib/gatehouse/git',
        sigtermMethod: 'immediate',
        pausedOnStart: false,
        logServer: undefined,
        logToken: undefined,
      },
      logStore: undefined,
      nodes: { config: undefined },
      tracing: { kind: 'off', why: '[tracing] endpoint is not set' },
      metrics: undefined,
      log: { level: 'info', format: 'json' },
      auth: [],
      notify: [],
      connections: [],
    });
  });

  it('logs may go to a bucket, of AWS or of a server by its address', () => {
    const { logStore } = settingsOf(
      `${MINIMAL}[log_store]\nbucket = ci-logs\nendpoint = https://s3.example.org\nprefix = /gate/\naccess_key_id = a\nsecret_access_key = b\nmax_waiting = 1\n`,
    );
    expect(logStore).toMatchObject({
      ...{ bucket: 'ci-logs', endpoint: 'https://s3.example.org', region: 'us-east-1', prefix: 'gate/' },
      ...{ pathStyle: true, credentials: { accessKeyId: 'a' }, mostWaiting: 1_000_000 },
    });
    expect(logStore?.credentials?.secretAccessKey.reveal()).toBe('b');
    expect(settingsOf(`${MINIMAL}[log_store]\nbucket = ci-logs\n`).logStore).toMatchObject({
      ...{ endpoint: undefined, region: undefined, prefix: '', pathStyle: false, credentials: undefined },
    });
    expect(errorsOf(`${MINIMAL}[log_store]\nregion = eu-1\naccess_key_id = a\n`)).toEqual([
      'gatehouse.conf:4: [log_store] region: does nothing without bucket',
      'gatehouse.conf:5: [log_store] access_key_id: needs secret_access_key as well',
    ]);
    expect(errorsOf(`${MINIMAL}[log_store]\nbucket = CI\n`)).toEqual([
      expect.stringMatching(/"CI" is no name of a bucket/),
    ]);
  });

  it('an executor of a zone offers no labels, unless it also takes builds without a zone', () => {
    const zoneOf = (text: string) => settingsOf(`${MINIMAL}[executor]\n${text}\n`).executor.zone;
    expect(zoneOf('zone = dmz')).toEqual({ zone: 'dmz' });
    expect(zoneOf('zone = dmz\nallow_unzoned = true\nlabels = arm')).toEqual({
      zone: 'dmz',
      allowUnzoned: true,
    });
    expect(errorsOf(`${MINIMAL}[executor]\nallow_unzoned = true\n`)).toEqual([
      'gatehouse.conf:4: [executor] allow_unzoned: does nothing without zone',
    ]);
    expect(errorsOf(`${MINIMAL}[executor]\nzone = a/b\nlabels = arm\n`)).toEqual([
      expect.stringMatching(/"a\/b" cannot be a zone/),
      expect.stringMatching(/labels: does nothing with zone/),
    ]);
  });

  it('versions of Ansible are a list, of which the default is one', () => {
    const { scheduler, executor } = settingsOf(
      '[scheduler]\ntenant_config = main.yaml\nansible_versions = 9, 11\ndefault_ansible_version = 11\n[executor]\nansible_root = ansible\n',
    );
    expect(scheduler.ansible).toEqual({ versions: ['9', '11'], usual: '11' });
    expect(executor.ansibleRoot).toBe('/srv/etc/ansible');
    const alone = settingsOf('[scheduler]\ntenant_config = main.yaml\ndefault_ansible_version = 11\n');
    expect(alone.scheduler.ansible).toBeUndefined();
    expect(
      errorsOf(
        '[scheduler]\ntenant_config = main.yaml\nansible_versions = 9, 11\ndefault_ansible_version = 8\n',
      ),
    ).toEqual([
      'gatehouse.conf:4: [scheduler] default_ansible_version: it is not one of ansible_versions (9, 11)',
    ]);
  });

  it('paths that are not set follow state_dir, paths that are set count from the directory of the file', () => {
    const settings = settingsOf(
      '[scheduler]\ntenant_config = ../main.yaml\nstate_dir = state\n[executor]\njob_dir = /fast/jobs\nlog_dir = logs\n',
    );
    expect(settings.scheduler).toMatchObject({ tenantConfig: '/srv/main.yaml', stateDir: '/srv/etc/state' });
    expect(settings.store).toMatchObject({ path: '/srv/etc/state/store.sqlite' });
    expect(settings.executor.jobDir).toBe('/fast/jobs');
    expect(settings.executor.logDir).toBe('/srv/etc/logs');
  });

  it.each([
    ['sqlite:///db/h.sqlite', { kind: 'sqlite', path: '/srv/etc/db/h.sqlite' }],
    ['sqlite:////db/h.sqlite', { kind: 'sqlite', path: '/db/h.sqlite' }],
  ])('the database URI %s is %j: three slashes are relative, four absolute', (uri, expected) => {
    expect(settingsOf(`${MINIMAL}[database]\ndburi = ${uri}\n`).database).toEqual(expected);
  });

  it.each(['postgresql', 'postgresql+psycopg2', 'postgres'])('%s is PostgreSQL', scheme => {
    const { database } = settingsOf(
      `${MINIMAL}[database]\ndburi = ${scheme}://gate:hunter2@db.example.org:5433/history\n`,
    );
    if (database.kind !== 'postgresql') throw new Error(`expected postgresql, got ${database.kind}`);
    expect(database.uri.reveal()).toBe('postgresql://gate:hunter2@db.example.org:5433/history');
    expect(JSON.stringify(database)).not.toContain('hunter2');
  });

  it('the public root follows address and the port that was bound, unless it is given', () => {
    const { web } = settingsOf(`${MINIMAL}[web]\nport = 0\nlisten_address = ::1\n`);
    expect(publicRoot(web, 4711)).toBe('http://[::1]:4711');
    expect(publicRoot(settingsOf(`${MINIMAL}[web]\nroot = https://ci.example.org/gate/\n`).web, 1)).toBe(
      'https://ci.example.org/gate',
    );
  });

  it('metrics have a port of their own when it is given, on this machine by default', () => {
    const metricsOf = (text: string) => settingsOf(`${MINIMAL}[metrics]\n${text}`).metrics;
    expect(metricsOf('')).toBeUndefined();
    expect(metricsOf('port = 9100\n')).toEqual({ listenAddress: '127.0.0.1', port: 9100 });
    expect(metricsOf('port = 0\nlisten_address = 0.0.0.0\n')).toEqual({ listenAddress: '0.0.0.0', port: 0 });
    expect(errorsOf(`${MINIMAL}[metrics]\nlisten_address = 0.0.0.0\n`)).toEqual([
      'gatehouse.conf:4: [metrics] listen_address: does nothing without port',
    ]);
  });

  it('no disk limit is written as -1', () => {
    expect(
      settingsOf(`${MINIMAL}[executor]\ndisk_limit_per_job = -1\n`).executor.diskLimitPerJob,
    ).toBeUndefined();
  });
});

describe('problems', () => {
  it.each<[string, string, string[]]>([
    ['an empty file', '', ['gatehouse.conf: [scheduler] tenant_config: is required and missing']],
    [
      'a missing required option',
      '\n[scheduler]\n',
      ['gatehouse.conf:2: [scheduler] tenant_config: is required and missing'],
    ],
    [
      'an empty required option',
      '[scheduler]\ntenant_config =',
      ['gatehouse.conf:2: [scheduler] tenant_config: is required and empty'],
    ],
    [
      'a tenant file and a script that prints one',
      `${MINIMAL}tenant_config_script = tenants.sh\n`,
      [
        'gatehouse.conf:3: [scheduler] tenant_config_script: tenant_config names a tenant file already; remove one of them',
      ],
    ],
    [
      'an empty script',
      '[scheduler]\ntenant_config_script =\n',
      ['gatehouse.conf:2: [scheduler] tenant_config_script: is empty'],
    ],
    [
      'an unknown option',
      `${MINIMAL}[web]\nprot = 1\n`,
      ['gatehouse.conf:4: [web] prot: unknown option, did you mean "port"?'],
    ],
    [
      'an unknown option near nothing',
      `${MINIMAL}[log]\ncolour = blue\n`,
      ['gatehouse.conf:4: [log] colour: unknown option; known here: format, level'],
    ],
    [
      'an unknown section',
      `${MINIMAL}[wbe]\nport = 1\n`,
      ['gatehouse.conf:3: [wbe]: unknown section, did you mean "web"?'],
    ],
    [
      'an unknown section near nothing',
      `${MINIMAL}[kubernetes]\n`,
      [
        'gatehouse.conf:3: [kubernetes]: unknown section; known here: scheduler, store, zookeeper, keystore, database, history, web, merger, executor, log_store, nodes, tracing, metrics, log, auth NAME, notify NAME, connection NAME',
      ],
    ],
    [
      'what of zuul.conf would change what jobs may do',
      `${MINIMAL}[executor]\ntrusted_rw_paths = /opt\n[merger]\nzone = dmz\n[DEFAULT]\nport = 1\n`,
      [
        'gatehouse.conf:4: [executor] trusted_rw_paths: is not supported: remove it and let the job bring what it needs: the sandbox shows jobs a read-only system and their own directory',
        'gatehouse.conf:6: [merger] zone: is not supported: remove it: mergers are in no zone here, each serves all',
        'gatehouse.conf:7: [DEFAULT]: is not supported: write its options into the sections that need them',
      ],
    ],
    [
      'a section that is there twice',
      `${MINIMAL}[web]\n[log]\n[web]\n`,
      ['gatehouse.conf:5: [web]: section is there twice, first at line 3'],
    ],
    [
      'an option that is set twice',
      `${MINIMAL}[web]\nport = 1\nPort: 2\n`,
      ['gatehouse.conf:5: [web] port: is set twice, first at line 4'],
    ],
    [
      'a path no Unix socket can have',
      `${MINIMAL}state_dir = /${'x'.repeat(100)}\n`,
      [
        `gatehouse.conf: [web] command_socket: /${'x'.repeat(100)}/gatehouse.sock is 9 bytes too long for a Unix socket; set it to a shorter path, such as /run/gatehouse/web.sock`,
      ],
    ],
    [
      'proxies that are no addresses',
      `${MINIMAL}[web]\ntrusted_proxies = 127.0.0.1, ::1/64 10.0.0.0/33\n`,
      [
        'gatehouse.conf:4: [web] trusted_proxies: "10.0.0.0/33" is no address or range such as 127.0.0.1 or 10.0.0.0/8',
      ],
    ],
    [
      'a word for a port',
      `${MINIMAL}[web]\nport = http\n`,
      ['gatehouse.conf:4: [web] port: "http" is not a whole number'],
    ],
    [
      'a port out of range',
      `${MINIMAL}[web]\nport = 70000\n`,
      ['gatehouse.conf:4: [web] port: "70000" is out of range, 0 to 65535'],
    ],
    [
      'a comment after a value, which is part of the value',
      `${MINIMAL}[web]\nport = 9000 ; the default\n`,
      ['gatehouse.conf:4: [web] port: "9000 ; the default" is not a whole number'],
    ],
    [
      'an address with a port',
      `${MINIMAL}[web]\nlisten_address = http://0.0.0.0\n`,
      [
        'gatehouse.conf:4: [web] listen_address: "http://0.0.0.0" is not an address; the port has an option of its own',
      ],
    ],
    [
      'a root that is no web address',
      `${MINIMAL}[web]\nroot = ftp://x\n`,
      ['gatehouse.conf:4: [web] root: not a URL starting with http:// or https://'],
    ],
    [
      'a root with a password',
      `${MINIMAL}[web]\nroot = https://me:hunter2@x\n`,
      [
        'gatehouse.conf:4: [web] root: a URL must not hold a user name or password; use the options made for them',
      ],
    ],
    [
      'another database',
      `${MINIMAL}[database]\ndburi = mysql+pymysql://zuul:hunter2@db/zuul\n`,
      [
        'gatehouse.conf:4: [database] dburi: "mysql" is not supported; use postgresql://... or sqlite:////absolute/path',
      ],
    ],
    [
      'a PostgreSQL URI without a database',
      `${MINIMAL}[database]\ndburi = postgresql://zuul:hunter2@db\n`,
      [
        'gatehouse.conf:4: [database] dburi: is not of the form postgresql://user:password@host:port/database',
      ],
    ],
    [
      'no database URI',
      `${MINIMAL}[database]\ndburi = history.db\n`,
      [
        'gatehouse.conf:4: [database] dburi: is not a database URI such as sqlite:////var/lib/gatehouse/history.sqlite',
      ],
    ],
    [
      'a database URI without a file',
      `${MINIMAL}[database]\ndburi = sqlite://\n`,
      [
        'gatehouse.conf:4: [database] dburi: names no file; write sqlite:///relative/path or sqlite:////absolute/path',
      ],
    ],
    [
      'a store root that is no path',
      `${MINIMAL}[store]\nroot = gatehouse/\n`,
      ['gatehouse.conf:4: [store] root: "gatehouse/" is not a path such as /gatehouse'],
    ],
    ['an empty path', `${MINIMAL}[merger]\ngit_dir =\n`, ['gatehouse.conf:4: [merger] git_dir: is empty']],
    [
      'a committer git would refuse',
      `${MINIMAL}[merger]\ngit_user_email = <ci@x>\n`,
      ['gatehouse.conf:4: [merger] git_user_email: "<ci@x>" is empty or holds < > or a line end'],
    ],
    [
      'a duration with another unit',
      `${MINIMAL}[merger]\ngit_timeout = 5 min\n`,
      ['gatehouse.conf:4: [merger] git_timeout: "5 min" is not a duration such as 30, 30s, 5m, 2h or 1d'],
    ],
    [
      'a duration out of range',
      `${MINIMAL}[merger]\ngit_timeout = 0\n`,
      ['gatehouse.conf:4: [merger] git_timeout: "0" is out of range, 1 to 86400 seconds'],
    ],
    [
      'a mistyped choice',
      `${MINIMAL}[executor]\nsandbox = bubblewarp\n`,
      [
        'gatehouse.conf:4: [executor] sandbox: "bubblewarp" is not one of auto, bubblewrap, none, did you mean "bubblewrap"?',
      ],
    ],
    [
      'a disk limit of nothing',
      `${MINIMAL}[executor]\ndisk_limit_per_job = 0\n`,
      ['gatehouse.conf:4: [executor] disk_limit_per_job: 0 leaves no room for any job; -1 means no limit'],
    ],
    [
      'too little output',
      `${MINIMAL}[executor]\noutput_max_bytes = 10\n`,
      ['gatehouse.conf:4: [executor] output_max_bytes: "10" is too small, at least 4096'],
    ],
    [
      'an environment variable that is not set',
      `${MINIMAL}[web]\nport = %(PORT)s\n`,
      ['gatehouse.conf:4: [web] port: environment variable PORT is not set'],
    ],
    [
      'a stray percent sign',
      `${MINIMAL}[merger]\ngit_user_name = 100% CI\n`,
      [
        'gatehouse.conf:4: [merger] git_user_name: stray "%"; write %% for a percent sign or %(VAR)s for an environment variable',
      ],
    ],
    [
      'a connection without a name',
      `${MINIMAL}[connection]\ndriver = git\n`,
      ['gatehouse.conf:3: [connection]: lacks a name; write [connection NAME]'],
    ],
    [
      'a connection with a name unfit for a URL',
      `${MINIMAL}[connection a/b]\ndriver = git\n`,
      ['gatehouse.conf:3: [connection a/b]: "a/b" is not a name of letters, digits, ".", "_" and "-"'],
    ],
    [
      'a connection without a driver',
      `${MINIMAL}[connection a]\n`,
      ['gatehouse.conf:3: [connection a] driver: is required and missing'],
    ],
    [
      'a connection with a driver that cannot be one',
      `${MINIMAL}[connection a]\ndriver = Git Hub\n`,
      ['gatehouse.conf:4: [connection a] driver: "Git Hub" is not the name of a driver, such as git'],
    ],
    [
      'two connections of one name',
      `${MINIMAL}[connection a]\ndriver = git\n[connection  a]\ndriver = git\n`,
      ['gatehouse.conf:5: [connection  a]: connection is there twice, first at line 3'],
    ],
    [
      'a connection with the name of what the gate did',
      `${MINIMAL}[connection zuul]\ndriver = git\n`,
      ['gatehouse.conf:3: [connection zuul]: "zuul" is the name of a connection that is always there'],
    ],
    [
      'a connection with the name of one that is always there',
      `${MINIMAL}[connection timer]\ndriver = git\n`,
      ['gatehouse.conf:3: [connection timer]: "timer" is the name of a connection that is always there'],
    ],
    [
      'an option before any section',
      `port = 1\n${MINIMAL}`,
      ['gatehouse.conf:1: port: stands before the first section; write [section] above it'],
    ],
    [
      'a line that is nothing',
      `${MINIMAL}hello\n`,
      ['gatehouse.conf:3: "hello" is neither an option (name = value) nor a section'],
    ],
    [
      'a broken header',
      `${MINIMAL}[web\n`,
      ['gatehouse.conf:3: "[web" is not a section header such as [web]'],
    ],
    [
      'text after a header',
      `${MINIMAL}[web] port = 1\n`,
      ['gatehouse.conf:3: "[web] port = 1" is not a section header such as [web]'],
    ],
    ['a NUL byte', `${MINIMAL}[log]\nlevel = in\0fo\n`, ['gatehouse.conf:4: the line holds a NUL byte']],
  ])('%s', (_, text, expected) => {
    expect(errorsOf(text)).toEqual(expected);
  });

  it('a line that is not UTF-8 is named', () => {
    const content = Buffer.concat([
      Buffer.from(`${MINIMAL}[merger]\ngit_user_name = Fran`),
      Buffer.from([0xe7, 0x0a]),
    ]);
    expect(errorsOf(content)).toEqual(['gatehouse.conf:4: the line is not UTF-8; save the file as UTF-8']);
  });

  it('all problems are shown at once, by line, and one per place', () => {
    expect(
      errorsOf('[web]\nport = x\nroot = y\n[scheduler]\n[tracing]\nsample_ratio = 2\nport = 1\n'),
    ).toEqual([
      'gatehouse.conf:2: [web] port: "x" is not a whole number',
      'gatehouse.conf:3: [web] root: not a URL starting with http:// or https://',
      'gatehouse.conf:4: [scheduler] tenant_config: is required and missing',
      'gatehouse.conf:6: [tracing] sample_ratio: "2" is out of range, 0 to 1',
      'gatehouse.conf:7: [tracing] port: unknown option; known here: certificate_file, compression, enabled, endpoint, insecure, keep, outbox_max_age, outbox_max_bytes, protocol, sample_ratio, service_name, service_per_component, span_names, split_after, timeout, tls_ca, tls_cert, tls_key, ui_url',
    ]);
  });
});

describe('connections', () => {
  const CONF = `${MINIMAL}
[connection review.example.org]
driver = gerrit
server = review.example.org
password = se;cret#x
webhook_token = %(TOKEN)s
sshkey = /etc/id
`;

  it('keep their dotted name and hand their options to the driver, with places', () => {
    const [connection] = settingsOf(CONF, { TOKEN: 't' }).connections;
    expect(connection).toMatchObject({ connection: 'review.example.org', driver: 'gerrit' });
    const read = optionReader(connection!);
    expect(read.required('server')).toBe('review.example.org');
    expect(read.secret('password')?.reveal()).toBe('se;cret#x');
    expect(read.secret('webhook_token')?.reveal()).toBe('t');
    expect(read.finish().map(showOptionProblem)).toEqual([
      'gatehouse.conf:9: [connection review.example.org] sshkey: unknown option; known here: password, server, webhook_token',
    ]);
  });

  it('show no secret in JSON or inspection', () => {
    const settings = settingsOf(CONF, { TOKEN: 'from-env' });
    const shown = `${JSON.stringify([...(settings.connections[0]?.options ?? [])])} ${inspect(settings, { depth: 9 })}`;
    expect(shown).not.toMatch(/se;cret|from-env/);
    expect(shown).toContain('/etc/id');
  });

  it('a secret in the file is distinguished from one in the environment', () => {
    const parsed = parse(CONF, { TOKEN: 't' });
    expect(parsed).toMatchObject({
      kind: 'settings',
      secretsInFile: [{ option: 'password', at: { line: 7 } }],
    });
  });
});
