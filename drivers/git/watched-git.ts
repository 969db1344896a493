/** A git whose requests to the remote count for the health of the host: those of events, polls, landings and notes. */
import type { HostHealth } from '../../src/driver/host-health.ts';
import type { ProjectKey } from '../../src/model/project.ts';
import { HostFailed, type ProjectGit } from './remote-git.ts';

/** The same git, with the outcome of each request recorded in `health`. */
export function watchedGit(
  project: ProjectKey,
  git: ProjectGit,
  health: Pick<HostHealth, 'noted'>,
): ProjectGit {
  async function counted<T>(ask: () => Promise<T>): Promise<T> {
    try {
      const answer = await ask();
      health.noted(project, undefined);
      return answer;
    } catch (error) {
      if (error instanceof HostFailed)
        health.noted(project, isServed(error) ? undefined : { reason: error.reason, text: error.message });
      throw error;
    }
  }

  return {
    ...git,
    refs: () => counted(() => git.refs()),
    bring: wants => (wants.length === 0 ? git.bring(wants) : counted(() => git.bring(wants))),
    bringRefs: refs => counted(() => git.bringRefs(refs)),
    push: changes => counted(() => git.push(changes)),
    note: (ref, commit, text) => counted(() => git.note(ref, commit, text)),
  };
}

/** The host answered; what it did not have, or what was too much, concerns what was asked for. */
function isServed({ reason }: HostFailed): boolean {
  return reason === 'missing-ref' || reason === 'too-large' || reason === 'aborted';
}
