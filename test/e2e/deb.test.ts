/** The Debian package: what is in it, and that dpkg installs it in a copy of this system that is gone afterwards. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildDeb } from '../../scripts/build-deb.ts';
import { builtProgram } from '../setup/built-program.ts';

const LIMIT = 120_000;
const hasDpkg = spawnSync('dpkg-deb', ['--version']).status === 0;
/** Mounts a file system over this system's, in which changes go to memory, and enters it: `$1` is the folder `packages` there, `$2` `node`. */
const IN_A_COPY = [
  'mount -t tmpfs copy "$0"',
  'mkdir "$0/upper" "$0/work" "$0/root"',
  'mount -t overlay overlay -o "lowerdir=/,upperdir=$0/upper,workdir=$0/work" "$0/root"',
  'mount --bind /dev "$0/root/dev"',
  'mkdir "$0/root/packages" "$0/root/node"',
  'mount --bind "$1" "$0/root/packages"',
  'mount --bind "$2" "$0/root/node"',
  'exec chroot "$0/root" /bin/sh -euc "$3"',
].join(' && ');

let directory: string;
let deb: string;
beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'gatehouse-deb-test-'));
  await mkdir(path.join(directory, 'copy'));
  if (hasDpkg)
    deb = buildDeb(path.resolve(await builtProgram(), '../../..'), path.join(directory, 'packages'));
}, LIMIT);
afterAll(() => rm(directory, { recursive: true, force: true }));

function inACopy(script: string): { readonly status: number | null; readonly text: string } {
  const places = [
    path.join(directory, 'copy'),
    path.join(directory, 'packages'),
    path.dirname(process.execPath),
  ];
  const args = ['--mount', 'sh', '-c', IN_A_COPY, ...places, script];
  const { status, stdout, stderr } = spawnSync('unshare', args, { encoding: 'utf8' });
  return { status, text: `${stdout}${stderr}` };
}

const canCopy = existsSync('/etc/debian_version') && hasDpkg && process.getuid?.() === 0;

test.skipIf(!hasDpkg)(
  'it has the program, units, manual, completion and the files for Grafana and Prometheus',
  () => {
    const listed = execFileSync('dpkg-deb', ['--contents', deb], { encoding: 'utf8' });
    for (const name of [
      './usr/bin/gatehouse -> ../lib/gatehouse/bin/gatehouse.mjs',
      './usr/lib/gatehouse/src/cmd/main.js',
      './etc/gatehouse/gatehouse.conf',
      ...['', '-scheduler', '-merger', '-executor', '-web'].map(
        kind => `./lib/systemd/system/gatehouse${kind}.service`,
      ),
      './usr/share/man/man1/gatehouse.1.gz',
      './usr/share/bash-completion/completions/gatehouse',
      './usr/share/gatehouse/grafana/gatehouse.json',
      './usr/share/gatehouse/prometheus/gatehouse.rules.yaml',
    ])
      expect(listed).toContain(`${name}\n`);
    expect(listed).not.toMatch(/^\S+ (?!root\/root)/m);
  },
);

test.skipIf(!canCopy)(
  'dpkg installs, upgrades and removes it; its units and its program work',
  { timeout: LIMIT },
  () => {
    const { status, text } = inACopy(`
    # man-db would read every manual page of the machine anew, three times.
    rm -f /var/lib/man-db/auto-update
    dpkg --install --force-depends /packages/${path.basename(deb)}
    id -gn gatehouse
    stat -c '%a %G' /etc/gatehouse/gatehouse.conf
    systemd-analyze verify /lib/systemd/system/gatehouse.service /lib/systemd/system/gatehouse-executor.service || echo verify failed
    /node/node /usr/bin/gatehouse --version
    site=$(mktemp -d)
    /node/node /usr/bin/gatehouse init "$site/first"
    /node/node /usr/bin/gatehouse config-check -c "$site/first/gatehouse.conf"
    rm -rf "$site"
    echo '# mine' >>/etc/gatehouse/tenants.yaml
    dpkg --install --force-depends /packages/${path.basename(deb)}
    grep -c mine /etc/gatehouse/tenants.yaml
    dpkg --remove gatehouse
    test ! -e /usr/bin/gatehouse && test -e /etc/gatehouse/gatehouse.conf && echo removed`);
    expect(status, text).toBe(0);
    expect(text).toMatch(/^gatehouse$/m);
    expect(text).toMatch(/^640 gatehouse$/m);
    expect(text).toMatch(/^\d+\.\d+\.\d+/m);
    expect(text).toMatch(/no errors/);
    expect(text).not.toMatch(/verify failed/);
    expect(text).toMatch(/^removed$/m);
    expect(existsSync('/usr/lib/gatehouse')).toBe(false);
  },
);
