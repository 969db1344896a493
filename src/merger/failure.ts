import type { RemoteFailure } from '../git/remote-failure.ts';
import type { ProjectKey } from '../model/project.ts';

/** Why a request could not be served; becomes the `failed` outcome. */
export interface Failure {
  readonly kind: 'failed';
  readonly text: string;
  readonly retryable: boolean;
}

/** The sentence users see; Zuul's words. */
export function updateFailure(project: ProjectKey, reason: string, retryable: boolean): Failure {
  return { kind: 'failed', text: `Unable to update ${project}: ${reason}`, retryable };
}

export function fetchFailure(project: ProjectKey, failure: RemoteFailure): Failure {
  return updateFailure(project, failure.message, failure.retryable);
}
