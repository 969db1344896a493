import type { Shape } from '../shape.ts';
import { idOf, type World } from '../world.ts';

/** Null: the account was deleted. */
export function actorNode(world: World, login: string | null): Shape | null {
  if (login === null || world.deletedUsers.has(login)) return null;
  const bot = login.endsWith('[bot]');
  const url = `${world.origin}/${encodeURIComponent(login)}`;
  return {
    __typename: bot ? 'Bot' : 'User',
    id: `U_${login}`,
    databaseId: idOf(login),
    // GraphQL leaves the suffix out, REST does not.
    login: bot ? login.slice(0, -'[bot]'.length) : login,
    name: login,
    email: world.emails.get(login) ?? '',
    url,
    resourcePath: `/${login}`,
    avatarUrl: `${url}.png`,
  };
}
