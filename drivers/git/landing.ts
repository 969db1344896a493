/** Lands what passed: `push` mode only, see land.ts. */
import type { Landing, LandingOutcome } from '../../src/driver/landing.ts';
import { redact } from '../../src/lib/redact.ts';
import { type ActingDeps, openActing } from './acting.ts';
import { land, landedSoFar } from './land.ts';
import type { Templates } from './ref-view.ts';

/** Templates give the approval branch, which is deleted with the proposal. */
export interface LandingDeps extends ActingDeps {
  readonly templates: Templates;
}

/** Only of connections with `proposals`. Secrets are removed from what a refusal quotes. */
export function createLanding(deps: LandingDeps): Landing {
  return {
    async land({ change, tested }, signal, mayAct) {
      if (change.kind === 'ref')
        return { kind: 'refused', text: `${change.ref} is where it should be; there is nothing to merge` };
      if (tested === undefined) return { kind: 'refused', text: 'nothing was tested' };
      const git = await openActing(change.project, deps, signal, mayAct);
      return clean(await land(change, tested, deps.templates, git), deps);
    },
    async landed({ change, tested }, signal) {
      signal.throwIfAborted();
      if (change.kind === 'ref' || tested === undefined) return [];
      return landedSoFar(change, tested, await deps.openGit(change.project));
    },
  };
}

function clean(outcome: LandingOutcome, { secrets }: LandingDeps): LandingOutcome {
  return outcome.kind === 'landed' || outcome.kind === 'later'
    ? outcome
    : { ...outcome, text: redact(outcome.text, secrets) };
}
