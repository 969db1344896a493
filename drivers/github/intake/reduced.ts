/** What the reduction of one webhook says: what it is about, or why it is of no interest. */
import type { NotificationAbout } from './notification.ts';
import type { Payload } from './payload.ts';

/** `reason` is answered to GitHub, and goes into the log. */
export type Reduced =
  | { readonly kind: 'about'; readonly about: NotificationAbout; readonly at?: number | undefined }
  | { readonly kind: 'ignored'; readonly reason: string };

/** What the intake knows of the connection. */
export interface IntakeFacts {
  /** Our App; null: a personal access token. */
  readonly appId: number | null;
}

/** One for each kind of webhook: pure, and without a request to GitHub. @param action empty: the event has none. */
export type Reducer = (payload: Payload, action: string, facts: IntakeFacts) => Reduced;

/** For a payload without a field that GitHub always sends. */
export function malformed(field: string): Reduced {
  return { kind: 'ignored', reason: `the payload has no valid ${field}` };
}

/** For an action that changes nothing a pipeline could see. */
export function uninteresting(action: string): Reduced {
  return { kind: 'ignored', reason: `action ${JSON.stringify(action.slice(0, 60))} is of no interest` };
}
