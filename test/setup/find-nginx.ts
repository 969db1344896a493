/**
 * Where the tests get a reverse proxy from: Debian's nginx, installed (`nginx-light`) where that is possible.
 * `GATEHOUSE_TEST_NGINX=none`: there is none, and none is installed.
 */
import { findProgram } from '../../src/executor/sandbox/find-runtime.ts';
import { aptInstall } from './apt-install.ts';
import { absent, declined, type ProvidedProgram } from './provided.ts';

/** Debian has it where only root looks. */
const PATH = '/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin';

export async function findOrInstallNginx(): Promise<ProvidedProgram> {
  if (process.env.GATEHOUSE_TEST_NGINX === 'none') return declined('GATEHOUSE_TEST_NGINX');
  const first = await findProgram('nginx', PATH);
  if (first !== undefined) return { kind: 'found', program: first };
  const reason = `no nginx in ${PATH}`;
  const failure = await aptInstall(['nginx-light'], reason);
  const second = await findProgram('nginx', PATH);
  return second === undefined
    ? absent(`${reason}; ${failure ?? 'apt-get install did not bring it'}`)
    : { kind: 'found', program: second };
}
