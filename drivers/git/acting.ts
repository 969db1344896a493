/** A project's git for changing things at the host: the right to act is asked for directly before each push. */
import type { Secret } from '../../src/lib/secret.ts';
import type { ProjectKey } from '../../src/model/project.ts';
import type { ProjectGit } from './remote-git.ts';

export interface ActingDeps {
  readonly openGit: (project: ProjectKey) => Promise<ProjectGit>;
  /** Never in a text of ours, whatever a remote says. */
  readonly secrets: readonly Secret[];
}

/** A process that was stopped after it looked at the refs finds out before it pushes. */
export async function openActing(
  project: ProjectKey,
  { openGit }: ActingDeps,
  signal: AbortSignal,
  mayAct: () => boolean,
): Promise<ProjectGit> {
  signal.throwIfAborted();
  const git = await openGit(project);
  const require = (): void => {
    if (!mayAct() || signal.aborted) throw new Error('this process may not act at the code host any more');
  };
  return {
    ...git,
    async push(changes) {
      require();
      return git.push(changes);
    },
    async note(ref, commit, text) {
      require();
      return git.note(ref, commit, text);
    },
  };
}
