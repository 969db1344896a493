/**
 * git's reads over a kept SSH connection, where a `git fetch` starts an ssh of its own: connecting and proving the key take longer
 * than the two answers that are wanted.
 */
import type { AskUploadPack } from '../../../src/git/process/remote.ts';
import type { SshSession } from './ssh-session.ts';

/** What may stand between quotes as it is. Other names are left to git. */
const PLAIN_NAME = /^[^'\\\p{Cc}]+$/u;

/** @param project its name at Gerrit. @returns undefined: only git can ask. */
export function uploadPackOf(session: SshSession, project: string): AskUploadPack | undefined {
  if (!PLAIN_NAME.test(project)) return undefined;
  return async (question, { deadlineMs, signal }) => {
    try {
      const ran = await session.run(
        {
          line: `git-upload-pack '/${project}'`,
          environment: { GIT_PROTOCOL: 'version=2' },
          conversation: question,
          deadlineMs,
        },
        // Connecting counts: git does not wait for a host that hangs twice.
        AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)]),
      );
      if (ran.kind === 'silent') return ran.reason === 'too-large' ? 'refused' : 'failed';
      return ran.code === 0 ? ran.output : 'refused';
    } catch {
      // It took too long, or the repositories are closed.
      return 'failed';
    }
  };
}
