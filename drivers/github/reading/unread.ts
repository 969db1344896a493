/** What an answer without data says: whether the thing is gone, or GitHub only does not give it now. */
import type { HostLater } from '../../../src/driver/host-later.ts';
import type { GithubAnswer } from '../api/port.ts';

/** `text`: one clause for people. */
export type Unread =
  | { readonly kind: 'gone'; readonly text: string }
  | { readonly kind: 'later'; readonly later: HostLater };

/** A missing permission is no statement about the thing. @param what completes "GitHub shows no …". */
export function unread(answer: Exclude<GithubAnswer<unknown>, { kind: 'ok' }>, what: string): Unread {
  if (answer.kind !== 'refused') return { kind: 'later', later: answer.later };
  // GraphQL says NOT_FOUND in a text.
  if (answer.status === 404 || /could not resolve to an?\b|not_found/i.test(answer.text))
    return { kind: 'gone', text: `GitHub shows no ${what}: ${answer.text}` };
  return { kind: 'later', later: { reason: 'denied', text: `${what}: ${answer.text}` } };
}
