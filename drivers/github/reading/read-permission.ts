/** Whether a person may write to a repository, asked at GitHub: what a webhook says of people is no authority. */
import type { HostLater } from '../../../src/driver/host-later.ts';
import type { GithubApi, GithubCall } from '../api/port.ts';

/** `text`: why not, as a clause that begins with the login. */
type PermissionRead =
  | { readonly kind: 'may' }
  | { readonly kind: 'may-not'; readonly text: string }
  | { readonly kind: 'later'; readonly later: HostLater };

/** @param login as GitHub names the person. */
export async function readMayWrite(login: string, call: GithubCall, api: GithubApi): Promise<PermissionRead> {
  const answer = await api.rest(
    'repos/get-collaborator-permission-level',
    'GET /repos/{owner}/{repo}/collaborators/{username}/permission',
    { username: login },
    call,
  );
  switch (answer.kind) {
    case 'ok': {
      // A role of the organization's own is shown here as the one that it extends.
      const { permission } = answer.data;
      if (permission === 'admin' || permission === 'write') return { kind: 'may' };
      return { kind: 'may-not', text: `${login} has ${permission}, and it takes write` };
    }
    case 'refused':
      return {
        kind: 'may-not',
        text:
          answer.status === 404
            ? `${login} has no access to ${call.repository}`
            : `${login}'s permission could not be read: ${answer.text}`,
      };
    default:
      return { kind: 'later', later: answer.later };
  }
}
