/** Builds that a turn learned to have succeeded, and how long each ran. */

import { millisecondsBetween } from '../../lib/clock.ts';
import { leadChange } from '../../model/about-item.ts';
import { endOfBuild } from '../../model/build.ts';
import type { PipelineState } from '../../model/pipeline-state.ts';
import type { ChangedTurn } from './changed-items.ts';
import type { RecordedDuration } from './expected-durations.ts';

/** @param before what is stored; builds that are in it unchanged were seen by an earlier turn. */
export function seenSuccesses(
  before: PipelineState,
  draft: Pick<ChangedTurn, 'changed' | 'left'>,
): readonly RecordedDuration[] {
  const found: RecordedDuration[] = [];
  for (const item of [...draft.changed, ...draft.left]) {
    const old = before.items.get(item.uuid);
    const known = new Set(old?.buildset.builds);
    for (const build of item.buildset.builds) {
      const { state } = build;
      if (known.has(build) || state.state !== 'completed') continue;
      if (state.result !== 'SUCCESS' || state.startedAt === null) continue;
      const ms = millisecondsBetween(state.startedAt, endOfBuild(build) ?? state.at);
      found.push({ tenant: item.tenant, project: leadChange(item).project, job: build.job, ms });
    }
  }
  return found;
}
