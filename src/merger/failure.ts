import type { RemoteFailure } from '../git/process/remote-failure.ts';
import { stripUserinfo } from '../lib/redact.ts';
import type { HostTrouble } from '../model/host-trouble.ts';
import type { ProjectKey } from '../model/project.ts';

/** Why a request could not be served; becomes the `failed` outcome. */
export interface Failure {
  readonly kind: 'failed';
  readonly text: string;
  readonly retryable: boolean;
  /** Host trouble: the request may be tried again. */
  readonly trouble?: HostTrouble;
}

/** No worker can serve the request. */
export function updateFailure(project: ProjectKey, reason: string): Failure {
  return { kind: 'failed', text: sentence(project, reason), retryable: false };
}

/** Host trouble says nothing about the change. */
export function hostFailure(trouble: HostTrouble): Failure {
  return { kind: 'failed', text: sentence(trouble.project, trouble.text), retryable: true, trouble };
}

/** A fetch or listing that the remote did not serve; credentials are removed from its message. */
export function fetchFailure(project: ProjectKey, { reason, message }: RemoteFailure): Failure {
  return hostFailure({ project, reason, text: stripUserinfo(message) });
}

/** The sentence users see, as Zuul words it. */
function sentence(project: ProjectKey, reason: string): string {
  return `Unable to update ${project}: ${reason}`;
}
