/**
 * The place of a build on a host: a directory, and the mark by which its processes are known.
 *
 *     ~/.gatehouse/<build>/        temporary files of Ansible, and what a job puts there; removed with the build
 *
 * Every connection of a build sends the variable {@link BUILD_MARK}; sshd passes on what begins with `LC_`, as Debian and others configure it. A process
 * is the build's when it has the mark, or works in the directory.
 */
import { strangersLine } from '../lib/cut-text.ts';
import type { HostSession } from './host-session.ts';

/** Of a build's processes on a host. */
export const BUILD_MARK = 'LC_GATEHOUSE_BUILD';

/** In the home directory. */
export function hostPlace(build: string): string {
  return `.gatehouse/${checked(build)}`;
}

/** @returns what is wrong, one line; undefined: it is there. */
export async function makePlace(session: HostSession, build: string): Promise<string | undefined> {
  return problemOf(await session.run(`sh -c 'umask 077 && mkdir -p ${hostPlace(build)}'`));
}

/** Kills what is left of the build and removes its directory. @returns as above. */
export async function removePlace(session: HostSession, build: string): Promise<string | undefined> {
  return problemOf(await session.run(`sh -c '${removal(build)}'`));
}

/** Until nothing is found, a few times: a process may start another while it is looked for. */
function removal(build: string): string {
  const place = hostPlace(build);
  return [
    `cd && p=$(pwd -P)/${place} && cd /proc || exit 1`,
    'n=0',
    'while :; do found=',
    'for i in [0-9]*; do d=/proc/$i',
    'case "$(readlink "$d/cwd" 2>/dev/null)" in "$p"|"$p"/*) found="$found $i"; continue;; esac',
    `grep -q "${BUILD_MARK}=${checked(build)}" "$d/environ" 2>/dev/null && found="$found $i"`,
    'done',
    '[ -z "$found" ] && break',
    'n=$((n+1)); [ $n -gt 10 ] && { echo "processes of the build remain:$found"; exit 1; }',
    'kill -9 $found 2>/dev/null',
    'done',
    'rm -rf "$p"',
  ].join('\n');
}

/** Uuids alone become part of commands. */
function checked(build: string): string {
  if (!/^[0-9a-f]{32}$/.test(build)) throw new RangeError(`not a build: ${JSON.stringify(build)}`);
  return build;
}

/** What a host prints may hold names that a job gave to files: one line, which controls no terminal and imitates no line of a log. */
function problemOf(end: Awaited<ReturnType<HostSession['run']>>): string | undefined {
  if (end.kind === 'failed') return end.reason;
  return end.status === 0
    ? undefined
    : `${strangersLine(end.output.slice(-300), 300) || 'a command failed'} (status ${end.status})`;
}
