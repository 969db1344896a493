/**
 * Where the tests get bubblewrap from: `bwrap` on the PATH, else Debian's package, installed where that is possible. It must also work:
 * a container may forbid the namespaces it makes. Found out without any code of ours, so that a mistake in the sandbox does not
 * look like a machine without one.
 * `GATEHOUSE_TEST_BUBBLEWRAP=none`: there is none, and none is installed.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findProgram } from '../../src/executor/sandbox/find-runtime.ts';
import { aptInstall } from './apt-install.ts';
import { absent, declined, type ProvidedProgram } from './provided.ts';

const TRY = ['--unshare-all', '--ro-bind', '/', '/', 'true'];

export async function findOrInstallBubblewrap(): Promise<ProvidedProgram> {
  if (process.env.GATEHOUSE_TEST_BUBBLEWRAP === 'none') return declined('GATEHOUSE_TEST_BUBBLEWRAP');
  const path = process.env.PATH ?? '/usr/bin:/bin';
  const first = await findProgram('bwrap', path);
  if (first !== undefined) return working(first);
  const reason = 'no bwrap on the PATH';
  const failure = await aptInstall(['bubblewrap'], reason);
  const second = await findProgram('bwrap', path);
  return second === undefined
    ? absent(`${reason}; ${failure ?? 'apt-get install did not bring it'}`)
    : working(second);
}

async function working(program: string): Promise<ProvidedProgram> {
  try {
    await promisify(execFile)(program, TRY, { timeout: 30_000 });
    return { kind: 'found', program };
  } catch (error) {
    return absent(String(error).replaceAll(/\s+/g, ' ').trim());
  }
}
