/**
 * An executor's request for read access to one repository, and the answer, which replaces it in its node:
 *
 *     asked → lent | refused        by the holder of the connection
 *
 * Why, and who may ask: `doc/decisions/0071-executors-borrow-read-access.md`.
 */
import type { Uuid } from '../lib/ids.ts';
import type { HostTrouble } from './host-trouble.ts';
import type { ProjectKey } from './project.ts';

/** Stored as the record `access-request` in an ephemeral node of the executor that asks. */
export type AccessRequest =
  | {
      readonly state: 'asked';
      /** The executor holds its claim. */
      readonly build: Uuid;
      /** One of the build's. */
      readonly project: ProjectKey;
      /** Made for this request; see `src/lib/sealed-text.ts`. */
      readonly publicKey: string;
    }
  /** `sealed`: a JSON array of HTTP header lines for git. */
  | { readonly state: 'lent'; readonly sealed: string }
  | ({ readonly state: 'refused' } & Pick<HostTrouble, 'reason' | 'text'>);

/** What the answer is bound to. @param path of the node. */
export function accessContext(path: string, project: ProjectKey): string {
  return `${path} ${project}`;
}
