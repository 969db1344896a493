/**
 * Landing in one go: items that passed directly behind the head are reported in the turn in which the head is, as far as their hosts
 * land several changes at once.
 *
 *     A B C D, all passed but C    →    A and B are reported together; C and D wait
 *     A is being reported, B passes    →    B waits: it is reported when A has left, together with what passed meanwhile
 *
 * Each was tested on exactly the commits of the item ahead of it, so its tested commit holds those of all items ahead, and its host moves
 * the branch there once. Every item keeps its own report and its own answer. An item lands only when those ahead of it have: when one of
 * them does not, the ones behind it come back unsent, and are tested again without it.
 */
import type { Uuid } from '../lib/ids.ts';
import { testedMergeOf } from '../model/build-set.ts';
import { projectIdOf } from '../model/project.ts';
import type { QueueItem } from '../model/queue-item.ts';
import { isDue, mayAskHost } from './host-wait.ts';
import type { JointLanding, QueuePass } from './queue-pass.ts';
import type { TurnDraft } from './turn-draft.ts';

/** So that the turn that requests the reports, and the answers to them, usually fit into one multi-write each. */
const MOST_TOGETHER = 50;

/**
 * Whether it was tested on the very commits of the item ahead. A push past the gate may have come between the two merges: the host would
 * refuse to land then in the item's own project, but does not check the other projects of its jobs. It waits until the item ahead has
 * landed, and is judged by what the host holds then (follow-nearest.ts).
 */
function holdsItemAhead(item: QueueItem, ahead: QueueItem): boolean {
  const own = testedMergeOf(item.buildset)?.branches ?? [];
  return (testedMergeOf(ahead.buildset)?.branches ?? []).every(({ project, branch, commit }) => {
    const same = own.find(each => each.project === project && each.branch === branch);
    return same === undefined || same.before === commit;
  });
}

/** Whether the item lands with the one ahead of it. Call when its jobs are complete. */
export function joinsLanding(
  draft: TurnDraft,
  { landing, directlyAhead }: QueuePass,
  item: QueueItem,
): boolean {
  return (
    landing !== null &&
    landing.size < MOST_TOGETHER &&
    landing.last === directlyAhead?.uuid &&
    landing.last === item.behind &&
    holdsItemAhead(item, directlyAhead) &&
    landsTogether(draft, item) &&
    mayJoinAtHost(draft, item)
  );
}

/** The joint landing once the item is reported: begun, grown, or null when nothing can join it. @param item as it is reported. */
export function withItem(
  draft: TurnDraft,
  landing: JointLanding | null,
  item: QueueItem,
): JointLanding | null {
  if (item.phase.phase !== 'reporting' || !landsTogether(draft, item)) return null;
  const { report, size } = landing ?? { report: item.phase.report, size: 0 };
  return { report, size: size + 1, last: item.uuid };
}

/**
 * Of items that are being reported, those that land with others: the report of the first, by their own.
 *
 * @param items each after those ahead of it.
 */
export function landingsUnderWay(items: readonly QueueItem[]): ReadonlyMap<Uuid, Uuid> {
  const firsts = new Map<Uuid, Uuid>();
  const joined = new Map<Uuid, Uuid>();
  for (const { uuid, behind, phase } of items) {
    if (phase.phase !== 'reporting' || phase.action !== 'success') continue;
    // Nothing is reported behind an item that has not landed, unless it lands with it.
    const first = behind === null ? undefined : firsts.get(behind);
    firsts.set(uuid, first ?? phase.report);
    if (first !== undefined) joined.set(phase.report, first);
  }
  return joined;
}

/** It passed, and the hosts of all its changes land several at once. */
function landsTogether({ manager, disabled, input }: TurnDraft, { changes, buildset }: QueueItem): boolean {
  const { pipeline, landsSeveral } = input;
  if (manager.success !== 'must-merge' || disabled || pipeline.landsOneByOne === true) return false;
  const { stage } = buildset;
  if (stage.state !== 'complete' || stage.result !== 'SUCCESS') return false;
  return changes.every(
    ({ kind, project }) => kind === 'change' && landsSeveral?.has(projectIdOf(project).connection) === true,
  );
}

/** Where the first asks a host in trouble on behalf of all, only those join whose landing may have been sent with it before. */
function mayJoinAtHost(draft: TurnDraft, item: QueueItem): boolean {
  const { hostWait } = item;
  if (hostWait?.doing === 'report' && hostWait.unsettled === true) return isDue(hostWait, draft.input.now);
  return mayAskHost(draft, item, 'report');
}
