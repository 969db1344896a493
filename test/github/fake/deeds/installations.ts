/** What owners do to the App's installation. */
import type { Hub } from '../rest/call.ts';
import { repositoryShape } from '../shapes.ts';
import type { Installation, Permissions, Repository } from '../world.ts';

/** Everything that the driver asks for. */
export const ALL_PERMISSIONS: Permissions = {
  metadata: 'read',
  administration: 'read',
  checks: 'write',
  contents: 'write',
  issues: 'write',
  pull_requests: 'write',
  statuses: 'write',
  workflows: 'write',
};

/** Everything that the driver looks at. */
export const ALL_EVENTS: readonly string[] = [
  ...[
    'branch_protection_rule',
    'check_run',
    'check_suite',
    'create',
    'delete',
    'issue_comment',
    'merge_group',
  ],
  ...['pull_request', 'pull_request_review', 'pull_request_review_thread', 'push', 'repository'],
  ...['repository_ruleset', 'status'],
];

export interface InstallationDeeds {
  /** @param options.repositories absent: all of the account */
  install(
    account: string,
    options?: { permissions?: Permissions; repositories?: readonly Repository[] },
  ): Promise<Installation>;
  uninstall(installation: Installation): Promise<void>;
  suspend(installation: Installation, suspended?: boolean): Promise<void>;
  setPermissions(installation: Installation, permissions: Permissions): Promise<void>;
  addRepository(installation: Installation, repository: Repository): Promise<void>;
  removeRepository(installation: Installation, repository: Repository): Promise<void>;
}

export function installationDeeds({ world, events, deliveries }: Hub): InstallationDeeds {
  const simple = (repository: Repository) => {
    const { id, node_id, name, full_name } = repositoryShape(world, repository, {});
    return { id, node_id, name, full_name, private: false };
  };
  const report = async (installation: Installation, action: string) => {
    events.installation('installation', action, installation, { repositories: [] });
    await deliveries.settled();
  };
  const changed = async (installation: Installation, repository: Repository, added: boolean) => {
    const kind = installation.repositories === null ? 'all' : 'selected';
    const lists = {
      repositories_added: added ? [simple(repository)] : [],
      repositories_removed: added ? [] : [simple(repository)],
    };
    events.installation('installation_repositories', added ? 'added' : 'removed', installation, {
      repository_selection: kind,
      ...lists,
    });
    await deliveries.settled();
  };
  return {
    async install(account, { permissions = ALL_PERMISSIONS, repositories } = {}) {
      const ids = repositories === undefined ? null : new Set(repositories.map(({ id }) => id));
      const installation: Installation = {
        id: world.nextId(),
        account,
        permissions,
        repositories: ids,
        suspended: false,
      };
      world.installations.set(installation.id, installation);
      await report(installation, 'created');
      return installation;
    },
    async uninstall(installation) {
      world.installations.delete(installation.id);
      await report(installation, 'deleted');
    },
    async suspend(installation, suspended = true) {
      installation.suspended = suspended;
      await report(installation, suspended ? 'suspend' : 'unsuspend');
    },
    async setPermissions(installation, permissions) {
      installation.permissions = permissions;
      await report(installation, 'new_permissions_accepted');
    },
    async addRepository(installation, repository) {
      installation.repositories?.add(repository.id);
      await changed(installation, repository, true);
    },
    async removeRepository(installation, repository) {
      installation.repositories ??= new Set(
        [...world.repositories.values()]
          .filter(each => each.owner === installation.account)
          .map(({ id }) => id),
      );
      installation.repositories.delete(repository.id);
      await changed(installation, repository, false);
    },
  };
}
