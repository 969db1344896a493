/**
 * How git runs ssh: never asks, never trusts a host it does not know, and reads none of the user's files.
 *
 *     sshEnvironment({ keyFile: '/etc/gatehouse/id', knownHostsFile: '/etc/gatehouse/hosts' })
 *     // { GIT_SSH_COMMAND: "ssh -F none -o BatchMode=yes … -i '/etc/gatehouse/id' …" }
 */

/** What may differ between remotes; all other options of ssh are fixed. */
export interface SshAccess {
  /** Private key; absent: the agent in SSH_AUTH_SOCK or ssh's defaults. */
  readonly keyFile?: string | undefined;
  /** Known hosts; absent: ssh's defaults. Unknown hosts are refused either way. */
  readonly knownHostsFile?: string | undefined;
}

/** For git's environment. git hands the line to a shell; its only variable parts are paths from the operator's settings, quoted. */
export function sshEnvironment({ keyFile, knownHostsFile }: SshAccess): { readonly GIT_SSH_COMMAND: string } {
  const command = [
    'ssh -F none -o BatchMode=yes -o StrictHostKeyChecking=yes -o PasswordAuthentication=no',
    '-o ConnectTimeout=20 -o ServerAliveInterval=15 -o ServerAliveCountMax=4',
    ...(keyFile === undefined ? [] : [`-o IdentitiesOnly=yes -i ${quoted(keyFile)}`]),
    ...(knownHostsFile === undefined
      ? []
      : [`-o UserKnownHostsFile=${quoted(knownHostsFile)} -o GlobalKnownHostsFile=/dev/null`]),
  ];
  return { GIT_SSH_COMMAND: command.join(' ') };
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
