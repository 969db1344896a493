import type { RemoteFailure } from '../git/remote-failure.ts';
import { stripUserinfo } from '../lib/redact.ts';
import type { HostTrouble } from '../model/host-trouble.ts';
import type { ProjectKey } from '../model/project.ts';

/** Why a request could not be served; becomes the `failed` outcome. */
export interface Failure {
  readonly kind: 'failed';
  readonly text: string;
  readonly retryable: boolean;
  /** It is the code host's trouble. */
  readonly trouble?: HostTrouble;
}

/** What was asked for cannot be done by any worker. */
export function updateFailure(project: ProjectKey, reason: string): Failure {
  return { kind: 'failed', text: sentence(project, reason), retryable: false };
}

/** The host's trouble: says nothing about the change. */
export function hostFailure(trouble: HostTrouble): Failure {
  return { kind: 'failed', text: sentence(trouble.project, trouble.text), retryable: true, trouble };
}

export function fetchFailure(project: ProjectKey, { reason, message }: RemoteFailure): Failure {
  return hostFailure({ project, reason, text: stripUserinfo(message) });
}

/** The sentence users see; Zuul's words. */
function sentence(project: ProjectKey, reason: string): string {
  return `Unable to update ${project}: ${reason}`;
}
