import { generateKeyPairSync } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readGerritOptions } from '../../../drivers/gerrit/options.ts';
import { readOptions } from '../../../drivers/git/options.ts';
import { readGithubOptions } from '../../../drivers/github/options.ts';
import { optionReader } from '../../../src/lib/option-reader.ts';
import { readSections, readSettings } from '../../../src/settings/read-settings.ts';
import type { Settings } from '../../../src/settings/settings.ts';

const SAMPLE = new URL('../../../etc/gatehouse.conf', import.meta.url).pathname;

function settingsOf(file: string, environment: Record<string, string>): Settings {
  const read = readSettings(file, environment);
  if (read.kind === 'invalid') throw new Error(read.errors.join('\n'));
  return read.settings;
}

describe('reading the settings file', () => {
  let directory: string;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'gatehouse-settings-'));
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  function write(text: string, mode: number): string {
    const file = join(directory, 'gatehouse.conf');
    writeFileSync(file, text);
    chmodSync(file, mode);
    return file;
  }

  const SECRET =
    '[scheduler]\ntenant_config = t.yaml\n[connection gh]\ndriver = github\nwebhook_token = hunter2\n';

  it('a file that is not there is one error', () => {
    const file = join(directory, 'none.conf');
    expect(readSettings(file, {})).toEqual({
      kind: 'invalid',
      errors: [`${file}: cannot be read (ENOENT); name another file with --config`],
    });
  });

  it('a directory in place of the file is one error', () => {
    expect(readSettings(directory, {})).toMatchObject({
      errors: [`${directory}: cannot be read (EISDIR); name another file with --config`],
    });
  });

  it('warns of a secret that all users may read', () => {
    const file = write(SECRET, 0o644);
    expect(readSettings(file, {})).toMatchObject({
      kind: 'settings',
      warnings: [
        `${file}:5: [connection gh] webhook_token: is a secret, but all users may read the file; chmod o-r ${file}`,
      ],
    });
    expect(readSettings(write(SECRET, 0o640), {})).toMatchObject({ warnings: [] });
  });

  it('variables that are set and do nothing are warned about, where spans are sent', () => {
    const file = write('[scheduler]\ntenant_config = t.yaml\n[tracing]\nenabled = %(ON)s\n', 0o600);
    const environment = { OTEL_BSP_SCHEDULE_DELAY: '100', OTEL_EXPORTER_OTLP_TIMEOUT: '10s' };
    expect(readSettings(file, { ...environment, ON: 'true' })).toMatchObject({
      kind: 'settings',
      warnings: [
        '$OTEL_BSP_SCHEDULE_DELAY: [tracing]: has no effect: spans are not batched in memory but wait in the outbox',
        '$OTEL_EXPORTER_OTLP_TIMEOUT: [tracing] timeout: "10s" is not a number of milliseconds; it is ignored',
      ],
    });
    expect(readSettings(file, { ...environment, ON: 'false' })).toMatchObject({ warnings: [] });
  });

  it('a secret in the environment is not in the file', () => {
    const file = write(SECRET.replace('hunter2', '%(TOKEN)s'), 0o644);
    expect(readSettings(file, { TOKEN: 'x' })).toMatchObject({ kind: 'settings', warnings: [] });
  });

  it('the sample is valid', () => {
    expect(readSettings(SAMPLE, {})).toMatchObject({ kind: 'settings', warnings: [] });
  });

  it('every option the sample mentions is known, and its default is the default', () => {
    const sample = readFileSync(SAMPLE, 'utf8').replaceAll(
      /^#\[(?:zookeeper|metrics|log_store|auth operators|notify core-team|connection (?:github\.com|gerrit|mail|broker|chat))\]\n(#.*\n)*/gm,
      '',
    );
    const uncommented = sample
      .replaceAll(/^#([a-z_]+ =.*)$/gm, '$1')
      .replaceAll('<state_dir>', '/var/lib/gatehouse')
      .replaceAll('<[merger] git_dir>', '/var/lib/gatehouse/git')
      .replace('root = https://gatehouse.example.org', '')
      .replaceAll(/^(endpoint|tls_\w+|log_listen_address|log_port|log_token) = .*$/gm, '')
      .replace('password = %(GATEHOUSE_KEYSTORE_PASSWORD)s', '')
      // Another name of the option above it.
      .replace(/^poll_delay = .*$/m, '')
      // For an https baseurl only; the sample's is another one.
      .replaceAll(/^http_\w+ = .*$/gm, '');
    const { connections, ...all } = settingsOf(write(uncommented, 0o600), { GATEHOUSE_WEBHOOK_TOKEN: 'x' });
    const { connections: _, ...defaults } = settingsOf(write(sample, 0o600), {});
    expect(all).toEqual(defaults);
    const read = optionReader(connections[0]!);
    readOptions('local', read);
    expect(read.finish()).toEqual([]);
    expect(uncommented.match(/^[a-z_]+ =/gm)?.length).toBeGreaterThan(35);
  });

  it('the sample with [zookeeper] instead of [store] is valid, and its default is the default', () => {
    const sample = readFileSync(SAMPLE, 'utf8');
    const [section = ''] = /^#\[zookeeper\]\n(#.*\n)*/m.exec(sample) ?? [];
    const uncommented = section.replaceAll(/^#(?=\[|[a-z_]+ =)/gm, '');
    const { store } = settingsOf(write(uncommented, 0o600), {
      GATEHOUSE_ZOOKEEPER_PASSWORD: 'x',
      GATEHOUSE_KEYSTORE_PASSWORD: 'y',
    });
    expect(store).toMatchObject({ kind: 'zookeeper', sessionTimeout: 10, root: '/gatehouse' });
    expect(store.kind === 'zookeeper' && store.hosts).toHaveLength(3);
  });

  it("the sample's Gerrit connection is valid, with a password, with a token, and with a key alone", () => {
    const sample = readFileSync(SAMPLE, 'utf8');
    const [section = ''] = /^#\[connection gerrit\]\n(#.*\n)*/m.exec(sample) ?? [];
    const uncommented = section.replaceAll(/^#(?=\[|[a-z_]+ =)/gm, '').replaceAll(/^\w+_file = .*\n/gm, '');
    const over = (kept: string) =>
      uncommented.replaceAll(/^(?:password|token|gitcookies|auth_type|submit_whole_topic) = .*\n/gm, line =>
        kept.split(' ').some(option => line.startsWith(`${option} =`)) ? line : '',
      );
    const environment = {
      GERRIT_PASSWORD: 'p',
      GERRIT_TOKEN: 't',
      GERRIT_WEBHOOK_TOKEN: 'w',
      GERRIT_WEBHOOK_TOKEN_PREVIOUS: 'v',
    };
    for (const [text, kind] of [
      [over('password auth_type'), 'basic'],
      [over('token'), 'bearer'],
      [over('submit_whole_topic'), 'ssh'],
    ] as const) {
      const [connection] = settingsOf(
        write(`[scheduler]\ntenant_config = t.yaml\n${text}`, 0o600),
        environment,
      ).connections;
      if (connection === undefined) throw new Error('the sample has no Gerrit connection');
      const read = optionReader(connection);
      expect(readGerritOptions(read, () => '')?.auth).toMatchObject({ kind });
      expect(read.finish()).toEqual([]);
    }
  });

  it("the sample's GitHub connection is valid, as an App and with a token", () => {
    const sample = readFileSync(SAMPLE, 'utf8');
    const [section = ''] = /^#\[connection github\.com\]\n(#.*\n)*/m.exec(sample) ?? [];
    const uncommented = section.replaceAll(/^#(?=\[|[a-z_]+ =)/gm, '');
    const app = uncommented.replaceAll(/^(?:\w+_file|api_token|repo_cache) = .*\n/gm, '');
    const token = uncommented.replaceAll(/^(?:app_\w+|\w+_token|sshkey|ssh_known_hosts) = .*\n/gm, '');
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const pem = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
    const environment = { GITHUB_WEBHOOK_TOKEN: 'x', GITHUB_WEBHOOK_TOKEN_PREVIOUS: 'y' };
    for (const text of [app, token]) {
      const whole = `[scheduler]\ntenant_config = t.yaml\n${text}`;
      const [connection] = settingsOf(write(whole, 0o600), environment).connections;
      const read = optionReader(connection!);
      const options = readGithubOptions(read, () => pem);
      expect(read.finish()).toEqual([]);
      expect(options).toMatchObject({ landing: 'push', webhookRate: 1_000, concurrency: 20 });
    }
  });

  it("the sample's [auth NAME] is valid, and its default is the default", () => {
    const sample = readFileSync(SAMPLE, 'utf8');
    const [section = ''] = /^#\[auth operators\]\n(#.*\n)*/m.exec(sample) ?? [];
    const uncommented = section
      .replaceAll(/^#(?=\[|[a-z_]+ =)/gm, '')
      .replace(/^(public_key|keys_url|audience|authority|scope|load_user_info) .*$/gm, '');
    const environment = { GATEHOUSE_AUTH_SECRET: 'x'.repeat(32) };
    const { auth } = settingsOf(write(`${sample}\n${uncommented}`, 0o600), environment);
    const shorter = uncommented.replaceAll(
      /^(uid_claim|max_validity_time|skew|allow_authz_override|default) .*$/gm,
      '',
    );
    const { auth: defaults } = settingsOf(write(`${sample}\n${shorter}`, 0o600), environment);
    expect(auth).toMatchObject([{ ...defaults[0], key: { kind: 'HS256' }, maxValidity: 3600 }]);
    expect(defaults).toMatchObject([{ name: 'operators', maxValidity: undefined }]);
  });
});

describe('reading what one command needs', () => {
  const directory = mkdtempSync(join(tmpdir(), 'gatehouse-sections-'));
  afterAll(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'gatehouse.conf');
  writeFileSync(
    file,
    `[scheduler]
tenant_config = %(TENANTS)s
state_dir = %(STATE)s
[web]
port = http
[auth operators]
driver = HS256
realm = r
issuer_id = i
client_id = c
secret = %(SECRET)s
[connection local]
driver = git
webhook_token = %(GATEHOUSE_WEBHOOK_TOKEN)s
[wbe]
`,
    { mode: 0o600 },
  );
  const SECRET = 'a secret that is long enough for it';

  it('passes over the mistakes of other sections, unset variables among them', () => {
    expect(readSections(file, { SECRET }, { wanted: ['auth'] })).toMatchObject({
      kind: 'settings',
      settings: { auth: [{ name: 'operators' }] },
    });
  });

  it.each<[(keyof Settings)[], string[]]>([
    [['auth'], ['11: [auth operators] secret: environment variable SECRET is not set']],
    [['store'], ['3: [scheduler] state_dir: environment variable STATE is not set']],
    [
      ['web'],
      [
        '3: [scheduler] state_dir: environment variable STATE is not set',
        '5: [web] port: "http" is not a whole number',
      ],
    ],
    [
      ['connections'],
      ['14: [connection local] webhook_token: environment variable GATEHOUSE_WEBHOOK_TOKEN is not set'],
    ],
  ])('reports the mistakes of %s', (wanted, errors) => {
    expect(readSections(file, {}, { wanted })).toEqual({
      kind: 'invalid',
      errors: errors.map(error => `${file}:${error}`),
    });
  });

  it('reports a mistake in the syntax of the file to every command', () => {
    const broken = join(directory, 'broken.conf');
    writeFileSync(broken, 'port = 1\n');
    expect(readSections(broken, {}, { wanted: ['auth'] })).toMatchObject({ kind: 'invalid' });
  });
});
