/**
 * Where git finds a repository: by https with a token of this repository alone, made per use, or for reading by ssh with a key.
 *
 *     https://github.com/acme/app.git     Authorization: Basic <x-access-token:token>
 *     ssh://git@github.com/acme/app.git   GIT_SSH_COMMAND
 *
 * Without the App's key it is the address alone: executors borrow the token.
 */
import type { Connection } from '../../src/driver/connection.ts';
import type { HostLater } from '../../src/driver/host-later.ts';
import type { RemoteUse } from '../../src/driver/remote.ts';
import { sshEnvironment } from '../../src/git/process/ssh.ts';
import { projectIdOf } from '../../src/model/project.ts';
import { answerMeaning } from './api/answer-meaning.ts';
import type { Credentials } from './api/credentials.ts';
import type { GithubOptions } from './options.ts';

/** GitHub gives no access now: host trouble, tried again later. */
class NoGithubAccess extends Error {
  override readonly name = 'NoGithubAccess';
  readonly fault = 'remote';
  readonly retryable = true;
  readonly later: HostLater;
  constructor(later: HostLater) {
    super(later.text);
    this.later = later;
  }
}

type Options = Pick<
  GithubOptions,
  'server' | 'cloneUrl' | 'repoCache' | 'sshKey' | 'sshKnownHosts' | 'identification'
>;

/** It reads with access that another process lends ({@link Connection.borrowsAccess}). */
export function borrowsAccess({
  identification,
  sshKey,
}: Pick<Options, 'identification' | 'sshKey'>): boolean {
  return identification.kind === 'app-without-key' && sshKey === undefined;
}

/** @param lifetime ends the requests for tokens when the connection closes. */
export function createGithubRemote(
  options: Options,
  credentials: Credentials,
  lifetime: AbortSignal,
): Connection['remote'] {
  const { server, cloneUrl, repoCache, sshKey } = options;
  const readUrl = repoCache === undefined ? cloneUrl : `https://${repoCache}`;
  const ssh =
    sshKey === undefined
      ? undefined
      : sshEnvironment({ keyFile: sshKey, knownHostsFile: options.sshKnownHosts });

  return async (project, use) => {
    const { name } = projectIdOf(project);
    // Branch protection knows the App, not the key.
    if (ssh !== undefined && use === 'read')
      return { url: `ssh://git@${server}/${name}.git`, environment: ssh };
    const url = `${use === 'read' ? readUrl : cloneUrl}/${name}.git`;
    if (use === 'read' && borrowsAccess(options)) return { url };
    const headers = [await authorization(name, use)];
    // The token of a user opens more than this.
    const isNarrow = use === 'read' && options.identification.kind === 'app';
    return { url, headers, ...(isNarrow ? { lendable: true } : {}) };
  };

  async function authorization(repository: string, use: RemoteUse): Promise<string> {
    const found = await credentials.find(
      { kind: 'git', repository, access: use },
      { repository, weight: use === 'write' ? 'final' : 'event', signal: lifetime },
    );
    if (found.kind !== 'credential') {
      const answer = answerMeaning(found, false);
      throw new NoGithubAccess('later' in answer ? answer.later : { reason: 'denied', text: textOf(answer) });
    }
    const token = found.token?.reveal() ?? '';
    return `Authorization: Basic ${Buffer.from(`x-access-token:${token}`).toString('base64')}`;
  }
}

function textOf(answer: ReturnType<typeof answerMeaning>): string {
  return answer.kind === 'refused' ? answer.text : 'GitHub gives no token';
}
