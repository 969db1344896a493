/**
 * Lands changes by Gerrit's submit (land-submit.ts).
 *
 *     landing-now.ts           change and branch, read directly before and after
 *     landing-tips.ts          git: the tree of the branch's tip
 *     item-siblings.ts         other changes of the item, before the first of them is submitted
 *     submitted-together.ts    what Gerrit would submit along with it
 *     own-votes.ts             our votes, which the submission may require
 *     submit-refusal.ts        Gerrit's words, and what to do about them
 *
 *     landing-context.ts       what these share
 *
 * Before that, whether Gerrit would submit: can-land.ts, from missing-requirements.ts (requirement-expression.ts), missing-votes.ts and
 * submit-case.ts; merge-mode-of.ts.
 *
 * A replica is never read here: there is no option that names one, and Gerrit itself has what it merged at once.
 */
import type { DriverLog } from '../../../src/driver/connection.ts';
import { gatherSteps } from '../../../src/driver/host-steps.ts';
import type { Landing, LandingRequest } from '../../../src/driver/landing.ts';
import { settleLanding } from '../../../src/driver/landing-errors.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import type { Change, ProposedChange } from '../../../src/model/change.ts';
import { projectIdOf } from '../../../src/model/project.ts';
import type { GerritApi, GerritCall } from '../api/port.ts';
import { ownTag } from '../language/event-facts.ts';
import { gerritReporterDeeds } from '../language/reporter-config.ts';
import type { OwnAccount } from '../reporting/own-account.ts';
import { landBySubmit, landedBySubmit } from './land-submit.ts';
import type { GerritLandingContext } from './landing-context.ts';
import { createLandingTips, type LandingTipsDeps } from './landing-tips.ts';

/** The log gets votes that could not be taken back. */
export interface GerritLandingDeps {
  readonly api: GerritApi;
  readonly log: DriverLog;
  readonly clock: Pick<Clock, 'now'>;
  /** Shared with the reporter. */
  readonly ourselves: OwnAccount;
  readonly git: LandingTipsDeps;
  /** Waits for Gerrit; ends early when aborted. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Writes nothing before it has asked what there is. */
export function createGerritLanding(deps: GerritLandingDeps): Landing {
  return {
    async land(request, signal, mayAct) {
      signal.throwIfAborted();
      const { change } = request;
      if (change.kind === 'ref')
        return { kind: 'refused', text: `${change.ref} is where it should be; there is nothing to submit` };
      const { steps, add } = gatherSteps();
      const context = landingContext(change, request, deps, { signal, mayAct, steps: add });
      if (context === undefined) return { kind: 'refused', text: 'nothing was tested' };
      return settleLanding(steps, () => landBySubmit(context));
    },
    async landed(request, signal) {
      signal.throwIfAborted();
      const { change } = request;
      if (change.kind === 'ref') return [];
      const context = landingContext(change, request, deps, { signal, mayAct: () => false });
      return context === undefined ? [] : landedBySubmit(context);
    },
  };
}

function landingContext(
  change: ProposedChange,
  { tested, report, config }: LandingRequest,
  { api, log, clock, ourselves, git, wait }: GerritLandingDeps,
  acting: Pick<GerritCall, 'signal' | 'mayAct' | 'steps'>,
): GerritLandingContext | undefined {
  if (tested === undefined) return undefined;
  const project = projectIdOf(change.project).name;
  return {
    ...{ api, log, ourselves, wait, change, project, tested },
    siblings: (report?.changes ?? []).filter(each => isSibling(each, change)),
    // Without a report it is not known for which pipeline.
    votes: report === undefined ? [] : gerritReporterDeeds(config).votes,
    tag: ownTag(report?.place.pipeline ?? ''),
    call: { project, ...acting },
    tips: createLandingTips(git),
    now: clock.now(),
  };
}

function isSibling(each: Change, change: ProposedChange): each is ProposedChange {
  const connection = projectIdOf(change.project).connection;
  return (
    each.kind === 'change' && each.key !== change.key && projectIdOf(each.project).connection === connection
  );
}
