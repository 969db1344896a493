/**
 * A group of GitHub's own merge queue: an update of a ref that GitHub will move the base branch to. It is tested as it is, and the
 * check run of the pipeline on its head, under the name that the branch requires, lets GitHub merge.
 *
 * The ref is read before: a group may be gone when its webhook arrives late.
 */

import { nothingFound } from '../../../src/driver/host-finding.ts';
import { openMemoryIndex } from '../../../src/driver/memory-index.ts';
import { refUpdateRecord } from '../../../src/driver/ref-update.ts';
import type { MergeGroupAbout } from '../intake/notification.ts';
import type { EventProcessing, GithubFound } from './processing.ts';
import { githubRefUpdate, REF_UPDATE_FACTS, readGithubTip } from './read-ref.ts';

/** As the remover of an item, for people. */
const QUEUE = "GitHub's merge queue";

/** @throws RecordError `newer` when an upgraded process wrote the memory. */
export async function processMergeGroup(
  about: MergeGroupAbout,
  processing: EventProcessing,
): Promise<GithubFound> {
  const { event, notification, memory, project, call, deps } = processing;
  const { ref, head, base } = about;
  const target = about.baseRef.replace(/^refs\/heads\//, '');
  const update = (tree?: string) => githubRefUpdate(project, ref, base, head, target, tree);
  // Of groups that are not given up.
  const groups = openMemoryIndex(memory, `groups/${notification.repository}`);
  if (notification.action === 'destroyed') {
    if ((await groups.get(ref)) === head) await groups.set(ref, undefined);
    const dequeues = [{ change: update().key, by: QUEUE }];
    return { happened: [], changes: [], memory: groups.changes(), dequeues };
  }
  if ((await groups.get(ref)) === head) return nothingFound('it was processed with another delivery');
  const read = await readGithubTip(ref, call, deps);
  if (read.kind === 'later') return { later: read.later };
  if (read.kind === 'gone') return nothingFound(read.text);
  if (read.tip?.commit !== head) {
    // A new ref may be announced before the API shows it.
    const later = deps.staleReads.again(event.uuid, ref);
    return later === undefined ? nothingFound('the merge group is gone') : { later };
  }
  await groups.set(ref, head);
  const change = update(read.tip.tree);
  const actor = { login: notification.actor, permission: null };
  return {
    happened: [{ type: 'merge_group', change, facts: { action: 'checks_requested', actor } }],
    changes: [refUpdateRecord(change, REF_UPDATE_FACTS, deps.clock.now())],
    memory: groups.changes(),
  };
}
