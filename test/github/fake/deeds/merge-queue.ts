/** GitHub's own merge queue: groups of pull requests, merged ahead on a branch of their own, waiting for required checks. */
import { git, mergeInto, refsOf } from '../bare-git.ts';
import { isSatisfied, requiredChecks } from '../contexts.ts';
import { noticeRefs } from '../refs-moved.ts';
import type { Hub } from '../rest/call.ts';
import type { Pull, Repository } from '../world.ts';

export interface MergeGroup {
  readonly branch: string;
  /** Full name, `refs/heads/gh-readonly-queue/<base>/pr-<n>-<base sha>`. */
  readonly ref: string;
  readonly headSha: string;
  readonly baseSha: string;
  readonly pulls: readonly Pull[];
}

export interface MergeQueueDeeds {
  /** Merges the pull requests one after another on a branch of the queue, and asks for checks. */
  queueGroup(repository: Repository, pulls: readonly Pull[]): Promise<MergeGroup>;
  /** Why the group is no more: `merged`, `invalidated`, `dequeued`. */
  destroyGroup(
    repository: Repository,
    group: MergeGroup,
    reason: 'merged' | 'invalidated' | 'dequeued',
  ): Promise<void>;
  /** What GitHub does when the required checks of the group are there. @returns whether it merged */
  settleGroup(repository: Repository, group: MergeGroup): Promise<boolean>;
}

const QUEUE = 'github-merge-queue[bot]';

export function mergeQueueDeeds({ world, events, deliveries }: Hub): MergeQueueDeeds {
  const moving = async (repository: Repository, change: () => Promise<unknown>) => {
    const before = await refsOf(repository.dir);
    await change();
    await noticeRefs(world, events, repository, before, QUEUE);
  };
  const eventOf = async (repository: Repository, group: MergeGroup, action: string, reason?: string) => {
    const show = (format: string) => git(repository.dir, 'log', '-1', `--format=${format}`, group.headSha);
    const person = { name: 'GitHub', email: 'noreply@github.com' };
    const head = {
      id: group.headSha,
      tree_id: await show('%T'),
      message: await show('%B'),
      timestamp: await show('%cI'),
      author: person,
      committer: person,
    };
    const { ref, headSha, baseSha, branch } = group;
    const about = {
      head_sha: headSha,
      head_ref: ref,
      base_sha: baseSha,
      base_ref: `refs/heads/${branch}`,
      head_commit: head,
    };
    events.send(repository, 'merge_group', action, QUEUE, {
      ...(reason === undefined ? {} : { reason }),
      merge_group: about,
    });
  };
  const deeds: MergeQueueDeeds = {
    async queueGroup(repository, pulls) {
      const branch = pulls[0]?.now.base ?? repository.defaultBranch;
      const baseSha = await git(repository.dir, 'rev-parse', `refs/heads/${branch}`);
      let headSha = baseSha;
      for (const pull of pulls) {
        const message = `Merge pull request #${pull.number} from ${repository.owner}/${pull.headRef}\n\n${pull.now.title}`;
        const merged = await mergeInto(repository.dir, {
          base: headSha,
          head: pull.now.head,
          method: 'merge',
          message,
        });
        if (merged === undefined)
          throw new Error(`pull request ${pull.number} does not merge into the group`);
        headSha = merged;
      }
      const ref = `refs/heads/gh-readonly-queue/${branch}/pr-${pulls.at(-1)?.number}-${baseSha}`;
      const group: MergeGroup = { branch, ref, headSha, baseSha, pulls };
      await moving(repository, () => git(repository.dir, 'update-ref', ref, headSha));
      await eventOf(repository, group, 'checks_requested');
      await deliveries.settled();
      return group;
    },
    async destroyGroup(repository, group, reason) {
      await eventOf(repository, group, 'destroyed', reason);
      await moving(repository, () => git(repository.dir, 'update-ref', '-d', group.ref));
      await deliveries.settled();
    },
    async settleGroup(repository, group) {
      const wanted = requiredChecks(repository, group.branch);
      if (!wanted.every(({ name, app }) => isSatisfied(repository, group.headSha, name, app))) return false;
      await moving(repository, () =>
        git(repository.dir, 'update-ref', `refs/heads/${group.branch}`, group.headSha, group.baseSha),
      );
      await deeds.destroyGroup(repository, group, 'merged');
      return true;
    },
  };
  return deeds;
}
