import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { runProgram } from '../../../src/cmd/commands/program.ts';
import { readSettings } from '../../../src/settings/read-settings.ts';
import { recordingIo } from './fixture.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'gatehouse-migrate-'));
afterAll(() => rmSync(directory, { recursive: true }));

const SITE = `# our Zuul
[statsd]
server = 127.0.0.1

[scheduler]
tenant_config = /etc/zuul/main.yaml
state_dir = /var/lib/zuul
prometheus_port = 9091
; of the log
log_config = /etc/zuul/logging.conf
  continued

[keystore]
password = %(ZUUL_KEYSTORE_PASSWORD)s

[executor]
hostname = ze01

[connection local]
driver = git
baseurl = /srv/git
`;

async function migrate(text: string, ...args: readonly string[]) {
  const file = path.join(directory, 'zuul.conf');
  writeFileSync(file, text);
  const io = recordingIo({});
  const status = await runProgram(['migrate', file, ...args], io);
  return {
    status,
    out: io.out().replaceAll(`${directory}/`, ''),
    err: io.err().replaceAll(`${directory}/`, ''),
  };
}

describe('gatehouse migrate', () => {
  test('says what becomes of each option', async () => {
    expect(await migrate(SITE)).toEqual({
      status: 0,
      err: '',
      out: `counts as it is:
  [scheduler] tenant_config, state_dir
  [keystore] password
  [connection local] driver, baseurl
counts under another name:
  [scheduler] prometheus_port is [metrics] port
  [executor] hostname is [scheduler] host_name
has no effect:
  [statsd]: metrics are read from /metrics, see [metrics]
  [scheduler] log_config: the log goes to standard error, see [log]
is shared with a Zuul that still runs: choose another directory:
  [scheduler] state_dir = /var/lib/zuul
is to be set in the environment of the service:
  ZUUL_KEYSTORE_PASSWORD

nothing must change
`,
    });
  });

  test('writes a file that starts without a warning, with the comments of the old one', async () => {
    const output = path.join(directory, 'gatehouse.conf');
    expect((await migrate(SITE, '-o', output)).status).toBe(0);
    expect(readFileSync(output, 'utf8')).toBe(`# our Zuul
# no effect: metrics are read from /metrics, see [metrics]
#[statsd]
#server = 127.0.0.1

[scheduler]
host_name = ze01
tenant_config = /etc/zuul/main.yaml
state_dir = /var/lib/zuul
# now [metrics] port
#prometheus_port = 9091
; of the log
# no effect: the log goes to standard error, see [log]
#log_config = /etc/zuul/logging.conf
#  continued

[keystore]
password = %(ZUUL_KEYSTORE_PASSWORD)s

[executor]
# now [scheduler] host_name
#hostname = ze01

[connection local]
driver = git
baseurl = /srv/git

[metrics]
port = 9091
`);
    expect(statSync(output).mode & 0o777).toBe(0o600);
    const read = readSettings(output, { ZUUL_KEYSTORE_PASSWORD: 'x' });
    expect(read).toMatchObject({
      kind: 'settings',
      warnings: [],
      settings: { metrics: { port: 9091 }, scheduler: { hostName: 'ze01' } },
    });
  });

  test('never overwrites a file', async () => {
    const output = path.join(directory, 'precious.conf');
    writeFileSync(output, 'precious');
    expect(await migrate(SITE, '-o', output)).toMatchObject({
      status: 1,
      err: expect.stringContaining('precious.conf exists already; name another file'),
    });
    expect(readFileSync(output, 'utf8')).toBe('precious');
  });

  test('fails when something must change, and writes where and why', async () => {
    const output = path.join(directory, 'unready.conf');
    const site = `${SITE}\n[web]\nport = http\n\n[executor2]\n\n[database]\ndburi = mysql+pymysql://zuul@db/zuul\n`;
    const { status, out } = await migrate(site, '-o', output);
    expect(status).toBe(1);
    expect(out).toContain('zuul.conf:24: [web] port: "http" is not a whole number');
    expect(out).toContain('[database] dburi: "mysql" is not supported; use postgresql://');
    expect(out).not.toContain('nothing must change');
    expect(readFileSync(output, 'utf8')).toContain(
      '# must change: "http" is not a whole number\nport = http\n\n# must change: unknown section',
    );
    expect(readSettings(output, { ZUUL_KEYSTORE_PASSWORD: 'x' }).kind).toBe('invalid');
  });

  test('names a file that is not there', async () => {
    const io = recordingIo({});
    expect(await runProgram(['migrate', '/nowhere/zuul.conf'], io)).toBe(1);
    expect(io.err()).toContain('/nowhere/zuul.conf cannot be read (ENOENT)');
  });
});
