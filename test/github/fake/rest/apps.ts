/** The App, its installations and their tokens. */
import { notFound, RequestRefused } from '../refused.ts';
import { type Shape, shapeAt, textsOf } from '../shape.ts';
import { accountShape, appShape, exampleOf, repositoryShape } from '../shapes.ts';
import {
  fullName,
  type Installation,
  installationOf,
  type Permissions,
  type Repository,
  timestamp,
  type World,
} from '../world.ts';
import { type Call, type Handlers, paged, type Reply, repositoryOf } from './call.ts';

export const appHandlers: Handlers = {
  'apps/get-authenticated': ({ world }) => ({ status: 200, body: appShape(world) }),
  'apps/list-installations': call =>
    paged(call, [...call.world.installations.values()], each => {
      const shape = installationShape(call.world, each);
      const at = timestamp(call.world);
      // The description of the list wants an account to be a user and an enterprise at once.
      const enterprise = { name: each.account, slug: each.account, created_at: at, updated_at: at };
      return { ...shape, account: { ...shapeAt(shape, 'account'), ...enterprise } };
    }),
  'apps/get-installation': ({ world, path }) =>
    answer(world, world.installations.get(Number(path.installation_id))),
  'apps/get-repo-installation': call => answer(call.world, installationOf(call.world, repositoryOf(call))),
  'apps/get-org-installation': ({ world, path }) =>
    answer(
      world,
      [...world.installations.values()].find(each => each.account.toLowerCase() === path.org?.toLowerCase()),
    ),
  'apps/create-installation-access-token': createToken,
  'apps/list-repos-accessible-to-installation': call => {
    const { actor, world } = call;
    if (actor.kind !== 'installation')
      throw new RequestRefused(403, 'You must authenticate with an installation access token.');
    const all = repositoriesOf(world, actor.installation).filter(
      ({ id }) => actor.repositories?.has(id) ?? true,
    );
    const example = (each: Repository) =>
      shapeAt(exampleOf(world, 'apps/list-repos-accessible-to-installation', 200, each), 'repositories', 0);
    return paged(
      call,
      all,
      each => repositoryShape(world, each, example(each)),
      repositories => ({
        total_count: all.length,
        repositories,
        repository_selection: actor.installation.repositories === null ? 'all' : 'selected',
      }),
    );
  },
};

function answer(world: World, installation: Installation | undefined): Reply {
  if (installation === undefined) throw notFound();
  return { status: 200, body: installationShape(world, installation) };
}

export function installationShape(world: World, installation: Installation): Shape {
  const { id, account, permissions, repositories, suspended } = installation;
  const example = shapeAt(exampleOf(world, 'apps/get-installation', 200));
  return {
    ...example,
    id,
    account: { ...accountShape(world, account), type: 'Organization' },
    app_id: world.app.id,
    app_slug: world.app.slug,
    permissions,
    repository_selection: repositories === null ? 'all' : 'selected',
    suspended_at: suspended ? timestamp(world) : null,
    suspended_by: null,
  };
}

export function repositoriesOf(world: World, { account, repositories }: Installation): readonly Repository[] {
  return [...world.repositories.values()].filter(
    each => each.owner.toLowerCase() === account.toLowerCase() && (repositories?.has(each.id) ?? true),
  );
}

async function createToken({ world, path, body, credentials }: Call): Promise<Reply> {
  const installation = world.installations.get(Number(path.installation_id));
  if (installation === undefined) throw notFound();
  if (installation.suspended) throw new RequestRefused(403, 'This installation has been suspended');
  const wanted = (body.permissions ?? installation.permissions) as Permissions;
  const granted = installation.permissions;
  const tooMuch = Object.entries(wanted).filter(
    ([name, level]) => granted[name] === undefined || (level !== 'read' && granted[name] === 'read'),
  );
  if (tooMuch.length > 0)
    throw new RequestRefused(422, 'The permissions requested are not granted to this installation.');
  const all = repositoriesOf(world, installation);
  const names = textsOf(body.repositories);
  const ids = Array.isArray(body.repository_ids) ? body.repository_ids : [];
  const chosen = all.filter(each => names.includes(each.name) || ids.includes(each.id));
  if (chosen.length < names.length + ids.length)
    throw new RequestRefused(
      422,
      'There is at least one repository that does not exist or is not accessible to the parent installation.',
    );
  const restricted = names.length + ids.length > 0;
  const selected = restricted ? new Set(chosen.map(({ id }) => id)) : null;
  const permissions: Permissions = { metadata: 'read', ...wanted };
  const { token, expires } = credentials.installationToken(installation, permissions, selected);
  return {
    status: 201,
    body: {
      token,
      expires_at: timestamp(world, expires),
      permissions,
      repository_selection: restricted || installation.repositories !== null ? 'selected' : 'all',
      ...(restricted ? { repositories: chosen.map(each => tokenRepository(world, each)) } : {}),
    },
  };
}

function tokenRepository(world: World, repository: Repository): Shape {
  const example = exampleOf(world, 'apps/list-repos-accessible-to-installation', 200, repository);
  return {
    ...repositoryShape(world, repository, shapeAt(example, 'repositories', 0)),
    full_name: fullName(repository),
  };
}
