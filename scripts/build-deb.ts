/**
 * Builds the Debian package: `npm run deb [FOLDER]` (default `dist-deb`) writes FOLDER/gatehouse_VERSION_all.deb.
 *
 *     /usr/lib/gatehouse         the build (build.ts); /usr/bin/gatehouse leads there
 *     /etc/gatehouse             settings and tenant file, which upgrades keep
 *     /lib/systemd/system        a unit for all components in one process, and one for each; none is started
 *     /usr/share                 manual page, completion, Grafana dashboard, Prometheus rules
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { unitText } from '../src/cmd/init/first-files.ts';
import { COMPONENT_KINDS } from '../src/store/paths.ts';
import { build } from './build.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
const USER = 'gatehouse';
const CONFIG = '/etc/gatehouse/gatehouse.conf';
const CONFFILES = [CONFIG, '/etc/gatehouse/tenants.yaml'];

/** @param program folder of a build. @returns the path of the package. */
export function buildDeb(program: string, folder: string): string {
  const stage = mkdtempSync(path.join(tmpdir(), 'gatehouse-deb-'));
  try {
    const { version, engines } = JSON.parse(readFileSync(path.join(program, 'package.json'), 'utf8'));
    cpSync(program, path.join(stage, 'usr/lib/gatehouse'), { recursive: true });
    mkdirSync(path.join(stage, 'usr/bin'));
    symlinkSync('../lib/gatehouse/bin/gatehouse.mjs', path.join(stage, 'usr/bin/gatehouse'));
    write(stage, files(program));
    write(stage, control(version, engines.node), 0o755);
    for (const file of ['control', 'conffiles']) chmodSync(path.join(stage, 'DEBIAN', file), 0o644);
    readable(stage);
    mkdirSync(folder, { recursive: true });
    const deb = path.join(folder, `gatehouse_${version}_all.deb`);
    execFileSync('dpkg-deb', ['--root-owner-group', '-Zgzip', '--build', stage, deb], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    return deb;
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

function files(program: string): Readonly<Record<string, string | Uint8Array>> {
  const etc = (name: string) => readFileSync(path.join(ROOT, 'etc', name), 'utf8');
  const said = (...args: readonly string[]) =>
    execFileSync(process.execPath, [path.join(program, 'bin/gatehouse.mjs'), ...args]);
  return {
    'etc/gatehouse/gatehouse.conf': etc('gatehouse.conf'),
    'etc/gatehouse/tenants.yaml': etc('tenants.yaml'),
    'usr/share/doc/gatehouse/copyright': readFileSync(path.join(program, 'LICENSE'), 'utf8'),
    'usr/share/gatehouse/grafana/gatehouse.json': etc('grafana/gatehouse.json'),
    'usr/share/gatehouse/prometheus/gatehouse.rules.yaml': etc('prometheus/gatehouse.rules.yaml'),
    'usr/share/man/man1/gatehouse.1.gz': gzipSync(said('man')),
    'usr/share/bash-completion/completions/gatehouse': said('completion', 'bash'),
    'usr/share/zsh/vendor-completions/_gatehouse': said('completion', 'zsh'),
    'usr/share/fish/vendor_completions.d/gatehouse.fish': said('completion', 'fish'),
    ...units(),
  };
}

/** A process as a whole, and a process for each component. */
function units(): Readonly<Record<string, string>> {
  const more = [
    'EnvironmentFile=-/etc/gatehouse/environment',
    'StateDirectory=gatehouse',
    // Builds get control groups below the unit's own.
    'Delegate=yes',
  ];
  const unit = (component?: string) =>
    unitText({
      command: ['/usr/bin/gatehouse'],
      config: CONFIG,
      user: USER,
      more,
      ...(component === undefined ? {} : { component }),
    });
  return Object.fromEntries([
    ['lib/systemd/system/gatehouse.service', unit()],
    ...COMPONENT_KINDS.map(kind => [`lib/systemd/system/gatehouse-${kind}.service`, unit(kind)]),
  ]);
}

/** Without asking anything; nothing is enabled before it is configured. */
function control(version: string, node: string): Readonly<Record<string, string>> {
  const services = ['gatehouse', ...COMPONENT_KINDS.map(kind => `gatehouse-${kind}`)].join(' ');
  return {
    'DEBIAN/control': `Package: gatehouse
Version: ${version}
Architecture: all
Maintainer: Gatehouse <gatehouse@localhost>
Depends: nodejs (${node.replace(/^>=/, '>= ')}), git (>= 1:2.38), adduser
Recommends: bubblewrap, openssh-client
Section: devel
Priority: optional
Description: project gate that explains itself
 Tests each proposed change in exactly the state it will land in, behind the
 changes ahead of it, and merges it only when that very state passed. Speaks
 Zuul's configuration language.
`,
    'DEBIAN/conffiles': `${CONFFILES.join('\n')}\n`,
    'DEBIAN/postinst': `#!/bin/sh
set -e
if [ "$1" = configure ]; then
  getent passwd ${USER} >/dev/null ||
    adduser --system --group --quiet --home /var/lib/gatehouse --shell /usr/sbin/nologin ${USER}
  # Settings may hold secrets.
  chgrp ${USER} ${CONFIG}
  chmod 640 ${CONFIG}
fi
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  # After an upgrade, those that run.
  [ -z "$2" ] || systemctl try-restart ${services}
fi
`,
    'DEBIAN/prerm': `#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then systemctl stop ${services}; fi
`,
    'DEBIAN/postrm': `#!/bin/sh
set -e
# What the service kept in /var/lib/gatehouse stays, and so does its user.
if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
`,
  };
}

function write(stage: string, content: Readonly<Record<string, string | Uint8Array>>, mode = 0o644): void {
  for (const [name, text] of Object.entries(content)) {
    const file = path.join(stage, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text, { mode });
  }
}

/** Folders that only their owner may enter come from temporary ones. */
function readable(stage: string): void {
  chmodSync(stage, 0o755);
  for (const entry of readdirSync(stage, { recursive: true, withFileTypes: true }))
    if (entry.isDirectory()) chmodSync(path.join(entry.parentPath, entry.name), 0o755);
}

if (import.meta.main) {
  const program = path.join(ROOT, 'dist');
  await build(program);
  const deb = buildDeb(program, path.resolve(process.argv[2] ?? path.join(ROOT, 'dist-deb')));
  console.log(deb);
}
