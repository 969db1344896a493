/** Where the tests get small programs of Debian from: looked for in the usual folders, and installed where that is possible. */
import { findProgram } from '../../src/executor/sandbox/find-runtime.ts';
import { aptInstall } from './apt-install.ts';
import { absent, declined, type ProvidedProgram } from './provided.ts';

/** nginx is where only root looks. */
const PATH = '/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin';

/** What a test wants, and the packages that have it. */
interface Wanted {
  /** All of them are needed; the path of the first one is provided. */
  readonly programs: readonly [string, ...string[]];
  readonly packages: readonly string[];
  /** `none`: there is none, and none is installed. */
  readonly variable: string;
}

/** Debian's nginx. */
export const NGINX: Wanted = {
  programs: ['nginx'],
  packages: ['nginx-light'],
  variable: 'GATEHOUSE_TEST_NGINX',
};

/** With which the migration guide compares verdicts. */
export const JQ_AND_CURL: Wanted = {
  programs: ['jq', 'curl'],
  packages: ['jq', 'curl'],
  variable: 'GATEHOUSE_TEST_JQ',
};

/** The clients of an ssh agent. */
export const OPENSSH: Wanted = {
  programs: ['ssh-add', 'ssh-keygen'],
  packages: ['openssh-client'],
  variable: 'GATEHOUSE_TEST_OPENSSH',
};

/** The machines that jobs reach over ssh, and the ssh of jobs. */
export const SSH_SERVER: Wanted = {
  programs: ['sshd', 'ssh'],
  packages: ['openssh-server', 'openssh-client'],
  variable: 'GATEHOUSE_TEST_SSHD',
};

export async function findOrInstall({ programs, packages, variable }: Wanted): Promise<ProvidedProgram> {
  if (process.env[variable] === 'none') return declined(variable);
  const look = async () => {
    const [first, ...others] = await Promise.all(programs.map(name => findProgram(name, PATH)));
    return others.includes(undefined) ? undefined : first;
  };
  const found = await look();
  if (found !== undefined) return { kind: 'found', program: found };
  const reason = `no ${programs.join(' and ')} in ${PATH}`;
  const failure = await aptInstall(packages, reason);
  const installed = await look();
  return installed === undefined
    ? absent(`${reason}; ${failure ?? 'apt-get install did not bring it'}`)
    : { kind: 'found', program: installed };
}
