import { describe, expect, test } from 'vitest';
import { showOptionProblem } from '../../../src/lib/option-reader.ts';
import { parseSettings } from '../../../src/settings/parse-settings.ts';
import { OPTIONS_OF_ZUUL, SECTIONS_OF_ZUUL } from '../../../src/settings/zuul-names.ts';
import { textOf } from '../docs/repository-text.ts';

function parse(text: string) {
  return parseSettings({
    content: new TextEncoder().encode(text),
    file: 'zuul.conf',
    directory: '/etc/zuul',
    environment: {},
  });
}

function settingsOf(text: string) {
  const parsed = parse(text);
  if (parsed.kind === 'invalid') throw new Error(parsed.problems.map(showOptionProblem).join('\n'));
  return { settings: parsed.settings, warnings: parsed.warnings.map(showOptionProblem) };
}

/** As small sites of Zuul have it. */
const SITE = `[gearman]
server = %(NO_SUCH_VARIABLE)s

[statsd]
server = 127.0.0.1

[zookeeper]
hosts = localhost:2181

[scheduler]
tenant_config = main.yaml
log_config = logging.conf
pidfile = /run/zuul/scheduler.pid
relative_priority = true
prometheus_port = 9091
prometheus_addr = 0.0.0.0

[executor]
private_key_file = /var/lib/zuul/ssh/id_rsa
hostname = ze01
state_dir = /srv/zuul
finger_port = 7979
load_multiplier = 2.5

[web]
listen_address = 0.0.0.0
status_url = https://zuul.example.org/status
static_cache_expiry = 0

[database]
dburi = postgresql+psycopg2://zuul@db/zuul
pool_recycle = 3600

[ansible_callback "mail"]
to = root

[connection cloud]
driver = aws

[connection local]
driver = git
baseurl = /srv/git
`;

describe('a zuul.conf', () => {
  test('is read as it is: what does nothing here is named in one warning, what has another name counts under that', () => {
    const { settings, warnings } = settingsOf(SITE);
    expect(settings.scheduler).toMatchObject({
      stateDir: '/srv/zuul',
      hostName: 'ze01',
      relativePriority: true,
    });
    expect(settings.metrics).toEqual({ listenAddress: '0.0.0.0', port: 9091 });
    expect(settings.connections.map(({ connection }) => connection)).toEqual(['local']);
    expect(warnings).toEqual([
      'zuul.conf:1: options of zuul.conf: without effect here: [gearman], [statsd], [scheduler] log_config, [scheduler] pidfile, [executor] private_key_file, [executor] finger_port, [web] status_url, [web] static_cache_expiry, [database] pool_recycle, [ansible_callback "mail"], [connection cloud]; read under another name: [scheduler] prometheus_port as [metrics] port, [scheduler] prometheus_addr as [metrics] listen_address, [executor] hostname as [scheduler] host_name, [executor] state_dir as [scheduler] state_dir ("gatehouse migrate zuul.conf" gives reasons)',
    ]);
  });

  test('keeps an option whose new name is set as well, and one that does nothing by itself', () => {
    const { settings, warnings } = settingsOf(
      '[scheduler]\ntenant_config = a\nstate_dir = /one\n[executor]\nstate_dir = /two\n[web]\nprometheus_addr = 0.0.0.0\n',
    );
    expect(settings.scheduler.stateDir).toBe('/one');
    expect(settings.metrics).toBeUndefined();
    expect(warnings).toEqual([
      'zuul.conf:5: options of zuul.conf: without effect here: [executor] state_dir, [web] prometheus_addr ("gatehouse migrate zuul.conf" gives reasons)',
    ]);
  });

  test('without anything of that kind has no such warning', () => {
    expect(settingsOf('[scheduler]\ntenant_config = a\n').warnings).toEqual([]);
  });

  test('is explained in the reference: every option and section that is ignored, renamed or refused', () => {
    const text = textOf('doc/reference/settings.md');
    const named = text.slice(text.indexOf('## Zuul’s own file'));
    const options = Object.values(OPTIONS_OF_ZUUL).flatMap(fates => Object.keys(fates));
    const missing = [...options, ...Object.keys(SECTIONS_OF_ZUUL)].filter(
      name => !named.includes(`\`${name}\``),
    );
    expect(missing).toEqual([]);
  });
});
