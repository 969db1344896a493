/** A repository, as GraphQL sees it. */
import { refsOf } from '../bare-git.ts';
import type { Shape } from '../shape.ts';
import { fullName, type Pull, type Repository, type World } from '../world.ts';
import { objectNode, protectionNode, refNode, refNodes } from './commit.ts';
import { type PageArguments, page, refusal } from './page.ts';
import { actorNode } from './people.ts';
import { pullNode, stateWord } from './pull.ts';

export function repositoryNode(world: World, repository: Repository): Shape {
  const name = fullName(repository);
  return {
    __typename: 'Repository',
    id: `R_${repository.id}`,
    databaseId: repository.id,
    name: repository.name,
    nameWithOwner: name,
    owner: actorNode(world, repository.owner),
    url: `${world.origin}/${name}`,
    isArchived: repository.archived,
    isDisabled: false,
    isFork: repository.fork !== null,
    isLocked: false,
    isPrivate: false,
    visibility: 'PUBLIC',
    parent: () => (repository.fork === null ? null : repositoryNode(world, repository.fork)),
    mergeCommitAllowed: repository.methods.merge,
    squashMergeAllowed: repository.methods.squash,
    rebaseMergeAllowed: repository.methods.rebase,
    deleteBranchOnMerge: false,
    autoMergeAllowed: false,
    allowUpdateBranch: false,
    viewerPermission: 'WRITE',
    pullRequest: ({ number }: { number: number }) => {
      const pull = repository.pulls.get(number);
      if (pull === undefined)
        throw refusal(`Could not resolve to a PullRequest with the number of ${number}.`, 'NOT_FOUND');
      return pullNode(world, repository, pull);
    },
    pullRequests: (args: PullsArguments) =>
      page(
        'pullRequests',
        chosen(repository, args).map(each => pullNode(world, repository, each)),
        args,
      ),
    branchProtectionRules: (args: PageArguments) =>
      page(
        'branchProtectionRules',
        [...repository.protection.keys()].map(each => protectionNode(world, repository, each)),
        args,
      ),
    defaultBranchRef: async () =>
      (await refNodes(world, repository, 'refs/heads/')).find(
        each => each.name === repository.defaultBranch,
      ) ?? null,
    ref: async ({ qualifiedName }: { qualifiedName: string }) => {
      const wanted = qualifiedName.startsWith('refs/') ? qualifiedName : `refs/heads/${qualifiedName}`;
      const found = (await refsOf(repository.dir)).get(wanted);
      return found === undefined ? null : refNode(world, repository, wanted, found);
    },
    refs: async (args: PageArguments & { refPrefix: string; query?: string | null }) => {
      const all = await refNodes(world, repository, args.refPrefix);
      return page(
        'refs',
        all.filter(each => String(each.name).includes(args.query ?? '')),
        args,
      );
    },
    object: ({ expression, oid }: { expression?: string | null; oid?: string | null }) =>
      objectNode(world, repository, oid ?? expression ?? ''),
    mergeQueue: null,
  };
}

interface PullsArguments extends PageArguments {
  readonly states?: readonly string[] | null;
  readonly baseRefName?: string | null;
  readonly headRefName?: string | null;
  readonly labels?: readonly string[] | null;
  readonly orderBy?: { readonly field: string; readonly direction: string } | null;
}

function chosen(repository: Repository, args: PullsArguments): readonly Pull[] {
  const wanted = (pull: Pull) =>
    (args.states?.includes(stateWord(pull)) ?? true) &&
    (args.baseRefName ?? pull.now.base) === pull.now.base &&
    (args.headRefName ?? pull.headRef) === pull.headRef &&
    (args.labels?.some(each => pull.now.labels.includes(each)) ?? true);
  const all = [...repository.pulls.values()].filter(wanted);
  const key = ({ now, createdAt }: Pull) =>
    args.orderBy?.field === 'UPDATED_AT' ? now.updatedAt : createdAt;
  const sorted = all.sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : a.number - b.number));
  return args.orderBy?.direction === 'DESC' ? sorted.reverse() : sorted;
}
