/** Code hosts in trouble, for the random histories of {@link Chaos}: they refuse merges, reports and builds, or answer and are not heard. */
import { addMilliseconds } from '../../../src/lib/clock.ts';
import type { Uuid } from '../../../src/lib/ids.ts';
import type { ReportOutcome } from '../../../src/model/event.ts';
import type { HostTrouble } from '../../../src/model/host-trouble.ts';
import type { Nature } from './chaos.ts';
import { chainOf, type PendingReport, type PipelineWorld } from './world.ts';

/** The same nature with hosts that are in trouble now and then; in the end they serve. */
export function withTroubledHosts(pipeline: PipelineWorld, nature: Nature): Nature {
  const unread = new Map<Uuid, ReportOutcome>();
  const landUnread = (report: PendingReport): boolean => {
    const { item, action } = report;
    if (pipeline.pipeline.manager !== 'dependent' || action !== 'success') return false;
    const outcome = pipeline.world.land(item);
    if (outcome.kind === 'done') unread.set(item.uuid, outcome);
    return outcome.kind === 'done';
  };
  return {
    ...nature,
    waits: true,
    merge: (merge, luck) => {
      if (luck < 16 || luck >= 24) return nature.merge(merge, luck);
      const { changes } = pickOf(chainOf(merge), luck) ?? merge.item;
      const [change] = changes;
      const { project } = change;
      const missing =
        luck === 22 && change.kind === 'change'
          ? ({ reason: 'missing-ref', commit: change.commit } as const)
          : {};
      const trouble = { ...troubleOf(pipeline, project, luck), ...missing };
      return { kind: 'failed', text: trouble.text, retryable: true, trouble, steps: [], worker: 'merger-1' };
    },
    report: (luck, report) => {
      const known = unread.get(report.item.uuid);
      const isTroubled = luck >= 18 && luck < 34;
      if (known !== undefined && !isTroubled) return known;
      if (!isTroubled) return nature.report(luck, report);
      const [{ project }] = report.item.changes;
      const unsettled = known !== undefined || (luck % 3 === 0 && landUnread(report));
      const trouble = { ...troubleOf(pipeline, project, luck), ...(unsettled ? { unsettled } : {}) };
      return { kind: 'host', trouble };
    },
    trouble: (build, luck) =>
      luck >= 24 && luck < 32 ? troubleOf(pipeline, build.item.changes[0].project, luck) : undefined,
  };
}

function troubleOf(pipeline: PipelineWorld, project: HostTrouble['project'], luck: number): HostTrouble {
  const named = luck % 4 === 3 ? { notBefore: addMilliseconds(pipeline.world.now, luck * 500) } : {};
  return {
    project,
    reason: luck % 2 === 0 ? 'limited' : 'unreachable',
    text: 'the host does not serve',
    ...named,
  };
}

function pickOf<T>(list: readonly T[], luck: number): T | undefined {
  return list[luck % list.length];
}
