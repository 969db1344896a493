/** The build that an event is about, and its new state in the draft. */
import { earlierOf, laterOf, type Nanoseconds } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';
import type { Build, BuildState } from '../model/build.ts';
import type { BuildSet } from '../model/build-set.ts';
import type { NodeRequest } from '../model/node-wait.ts';
import type { QueueItem } from '../model/queue-item.ts';
import type { TurnDraft } from './turn-draft.ts';

/** As they are in the draft. */
export interface FoundBuild {
  readonly item: QueueItem;
  readonly build: Build;
}

/** Of the present buildset or an earlier one. @returns undefined: the item has left, or has no such build, which is noted. */
export function buildOfEvent(
  draft: TurnDraft,
  event: { readonly uuid: Uuid; readonly item: Uuid; readonly build: Uuid },
): FoundBuild | undefined {
  const item = draft.item(event.item);
  if (item === undefined) return undefined;
  for (const buildset of [item.buildset, ...item.earlier.toReversed()]) {
    const build = buildset.builds.find(entry => entry.uuid === event.build);
    if (build !== undefined) return { item, build };
  }
  draft.ignore({ item: item.uuid, event: event.uuid, text: `build ${event.build} is not one of the item's` });
  return undefined;
}

/** @param nodes where they change with it. */
export function putBuild(
  draft: TurnDraft,
  found: FoundBuild,
  state: BuildState,
  { nodes }: Pick<Build, 'nodes'> = found.build,
): void {
  putFacts(draft, found, nodes === undefined ? { state } : { state, nodes });
}

export function putNodes(draft: TurnDraft, found: FoundBuild, nodes: NodeRequest): void {
  putFacts(draft, found, { nodes });
}

function putFacts(
  draft: TurnDraft,
  { item, build }: FoundBuild,
  facts: Partial<Pick<Build, 'state' | 'nodes'>>,
): void {
  const replace = (buildset: BuildSet): BuildSet => {
    if (!buildset.builds.includes(build)) return buildset;
    return {
      ...buildset,
      builds: buildset.builds.map(entry => (entry === build ? { ...entry, ...facts } : entry)),
    };
  };
  const earlier = item.buildset.builds.includes(build) ? item.earlier : item.earlier.map(replace);
  draft.put({ ...item, buildset: replace(item.buildset), earlier });
}

/** @param what is ignored, as a noun. */
export function ignoreFor(
  draft: TurnDraft,
  { item, build }: FoundBuild,
  event: { readonly uuid: Uuid },
  what: string,
): void {
  const text = `${what} of ${build.job} (${build.uuid}), which is ${build.state.state}`;
  draft.ignore({ item: item.uuid, event: event.uuid, text });
}

/** The nearest time between two. */
export function within(time: Nanoseconds, from: Nanoseconds, to: Nanoseconds): Nanoseconds {
  return laterOf(from, earlierOf(time, to));
}
