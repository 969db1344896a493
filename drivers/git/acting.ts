/** A project's git for writing to the host: checks the right to act directly before each push. */
import type { Secret } from '../../src/lib/secret.ts';
import type { ProjectKey } from '../../src/model/project.ts';
import type { ProjectGit } from './remote-git.ts';

/** What reporter and landing have in common: both write to the host. */
export interface ActingDeps {
  readonly openGit: (project: ProjectKey) => Promise<ProjectGit>;
  /** Removed from every text, because a remote's message may hold them. */
  readonly secrets: readonly Secret[];
}

/** A process that was stopped after it read the refs notices before it pushes. */
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
