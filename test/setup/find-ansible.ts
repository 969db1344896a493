/**
 * Where the tests get Ansible from: what jobs find on their own PATH, else Debian's `ansible-core`, installed where that is possible.
 * `GATEHOUSE_TEST_ANSIBLE=none`: there is none, and none is installed.
 */
import { findAnsible } from '../../src/executor/ansible/ansible-run.ts';
import { INSIDE_PATH } from '../../src/executor/sandbox/bubblewrap-argv.ts';
import { aptInstall } from './apt-install.ts';
import { absent, declined, type ProvidedProgram } from './provided.ts';

export async function findOrInstallAnsible(): Promise<ProvidedProgram> {
  if (process.env.GATEHOUSE_TEST_ANSIBLE === 'none') return declined('GATEHOUSE_TEST_ANSIBLE');
  const first = await findAnsible(INSIDE_PATH);
  if (first !== undefined) return { kind: 'found', program: first };
  const reason = `no ansible-playbook in ${INSIDE_PATH}`;
  const failure = await aptInstall(['ansible-core'], reason);
  const second = await findAnsible(INSIDE_PATH);
  return second === undefined
    ? absent(`${reason}; ${failure ?? 'apt-get install did not bring it'}`)
    : { kind: 'found', program: second };
}
