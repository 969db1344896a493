/**
 * What the builds of changes provided, remembered in the pipeline's record when their items leave: the history is not asked, because no
 * turn waits for that and not every scheduler has it open (decision 0238).
 */
import { type Build, isOpen, isRetried } from '../model/build.ts';
import { type BuildSet, currentBuild, graphOf } from '../model/build-set.ts';
import type { QueueItem } from '../model/queue-item.ts';
import type { ProvidedBuild, ProvidedByChange } from '../model/requirement.ts';

/** Characters of JSON of all that is remembered: the pipeline's record is written in many turns. */
const MOST_REMEMBERED = 100_000;

/** What the item's builds provided, for those that depend on its changes; call it when the item leaves. */
export function withProvided(
  remembered: readonly ProvidedByChange[],
  item: QueueItem,
): readonly ProvidedByChange[] {
  if (item.role !== 'live') return remembered;
  const added = item.changes.flatMap((change, index): readonly ProvidedByChange[] => {
    const builds = endedProviders(item.buildset, undefined, index);
    if (change.kind !== 'change' || builds.length === 0) return [];
    return [{ change: change.key, patchset: change.patchset, builds }];
  });
  if (added.length === 0) return remembered;
  const again = new Set(added.map(({ change, patchset }) => `${change} ${patchset}`));
  const all = [...remembered.filter(each => !again.has(`${each.change} ${each.patchset}`)), ...added];
  while (JSON.stringify(all).length > MOST_REMEMBERED) all.shift();
  return all;
}

/** Builds that came to an end of their own. @param requires undefined: anything. @param change place of the job's change in the item; undefined: any. */
export function endedProviders(
  buildset: BuildSet,
  requires: readonly string[] | undefined,
  change?: number,
): readonly ProvidedBuild[] {
  return (graphOf(buildset)?.jobs ?? []).flatMap(({ name, plainName, provides = [], change: own = 0 }) => {
    const build = currentBuild(buildset, name);
    if (provides.length === 0 || build === undefined || !isVerdict(build)) return [];
    if ((requires !== undefined && !meets(provides, requires)) || (change ?? own) !== own) return [];
    const { result, returned } = build.state;
    return [
      { uuid: build.uuid, job: plainName ?? name, provides, result, artifacts: returned?.artifacts ?? [] },
    ];
  });
}

type Completed = Build & { readonly state: Extract<Build['state'], { state: 'completed' }> };

function isVerdict(build: Build): build is Completed {
  return build.state.state === 'completed' && !isOpen(build) && !isRetried(build);
}

/** Some of it is required. */
export function meets(provides: readonly string[], requires: readonly string[]): boolean {
  return provides.some(each => requires.includes(each));
}
