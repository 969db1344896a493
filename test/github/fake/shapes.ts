/** GitHub's JSON of people and repositories: the examples of its description with the fake's facts. */
import { type Shape, shapeAt } from './shape.ts';
import { fullName, idOf, type Repository, type World } from './world.ts';

/** An example of the description, its links turned to the fake and to a repository. */
export function exampleOf(world: World, operation: string, status: number, repository?: Repository): unknown {
  const text = JSON.stringify(world.description.operation(operation).example(status) ?? {});
  const here = text.replaceAll('https://api.github.com', world.api).replaceAll('https://HOSTNAME', world.api);
  return JSON.parse(
    repository === undefined
      ? here
      : here
          .replaceAll('octocat/Hello-World', fullName(repository))
          .replaceAll('octocat/hello-world', fullName(repository))
          .replaceAll('octocat/example', fullName(repository))
          .replaceAll('github/hello-world', fullName(repository)),
  );
}

/** Null: the account was deleted. */
export function userShape(world: World, login: string | null): Shape | null {
  if (login === null || world.deletedUsers.has(login)) return null;
  return accountShape(world, login);
}

export function accountShape(world: World, login: string): Shape {
  const api = `${world.api}/users/${encodeURIComponent(login)}`;
  return {
    login,
    id: idOf(login),
    node_id: `U_${login}`,
    avatar_url: `${world.origin}/avatars/${encodeURIComponent(login)}`,
    gravatar_id: '',
    url: api,
    html_url: `${world.origin}/${encodeURIComponent(login)}`,
    followers_url: `${api}/followers`,
    following_url: `${api}/following{/other_user}`,
    gists_url: `${api}/gists{/gist_id}`,
    starred_url: `${api}/starred{/owner}{/repo}`,
    subscriptions_url: `${api}/subscriptions`,
    organizations_url: `${api}/orgs`,
    repos_url: `${api}/repos`,
    events_url: `${api}/events{/privacy}`,
    received_events_url: `${api}/received_events`,
    type: login.endsWith('[bot]') ? 'Bot' : 'User',
    site_admin: false,
  };
}

/** @param like an example of a repository, which the facts replace parts of */
export function repositoryShape(world: World, repository: Repository, like: Shape): Shape {
  const name = fullName(repository);
  const owner = typeof like.owner === 'object' ? like.owner : {};
  return {
    ...like,
    id: repository.id,
    node_id: `R_${repository.id}`,
    name: repository.name,
    full_name: name,
    owner: { ...owner, ...accountShape(world, repository.owner) },
    private: false,
    archived: repository.archived,
    fork: repository.fork !== null,
    html_url: `${world.origin}/${name}`,
    url: `${world.api}/repos/${name}`,
    clone_url: `${world.origin}/${name}.git`,
    default_branch: repository.defaultBranch,
  };
}

/** As `GET /repos/{owner}/{repo}` answers. */
export function fullRepositoryShape(world: World, repository: Repository): Shape {
  const example = shapeAt(exampleOf(world, 'repos/get', 200, repository));
  const { source, parent: _, template_repository: __, ...like } = example;
  const { merge, squash, rebase } = repository.methods;
  // The description's own example lacks the language.
  const of = (each: Repository, shape: Shape) => ({ ...repositoryShape(world, each, shape), language: null });
  const origin = repository.fork === null ? undefined : of(repository.fork, shapeAt(source));
  return {
    ...of(repository, like),
    ...(origin === undefined ? {} : { parent: origin, source: origin }),
    allow_merge_commit: merge,
    allow_squash_merge: squash,
    allow_rebase_merge: rebase,
  };
}

export function labelShape(world: World, repository: Repository, name: string): Shape {
  const url = `${world.api}/repos/${fullName(repository)}/labels/${encodeURIComponent(name)}`;
  return {
    id: idOf(name),
    node_id: `LA_${idOf(name)}`,
    url,
    name,
    description: '',
    color: 'ededed',
    default: false,
  };
}

export function appShape(world: World): Shape {
  const example = shapeAt(exampleOf(world, 'apps/get-authenticated', 200));
  return {
    ...example,
    id: world.app.id,
    slug: world.app.slug,
    name: 'Gatehouse',
    client_id: world.app.clientId,
    events: world.app.events,
  };
}
