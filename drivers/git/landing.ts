/** Lands what passed: `push` mode only, see land.ts. */
import type { Landing, LandingOutcome, LandingRequest } from '../../src/driver/landing.ts';
import { redact } from '../../src/lib/redact.ts';
import { type ActingDeps, openActing } from './acting.ts';
import { landedSoFar, landInOrder } from './land.ts';
import type { TestedChange } from './landing-step.ts';
import type { Templates } from './ref-view.ts';

/** Templates give the approval branch, which is deleted with the proposal. */
export interface LandingDeps extends ActingDeps {
  readonly templates: Templates;
}

/** Only of connections with `proposals`. Secrets are removed from what a refusal quotes. */
export function createLanding(deps: LandingDeps): Landing {
  const landTogether: NonNullable<Landing['landInOrder']> = async (requests, signal, mayAct) => {
    const { able, refusal } = ableOf(requests);
    const [first, ...others] = able;
    if (first === undefined) return [refusal];
    const git = await openActing(first.change.project, deps, signal, mayAct);
    const outcomes = await landInOrder([first, ...others], deps.templates, git);
    return outcomes.map(outcome => clean(outcome, deps));
  };
  return {
    async land(request, signal, mayAct) {
      const [outcome] = await landTogether([request], signal, mayAct);
      if (outcome === undefined) throw new Error('a landing without an outcome');
      return outcome;
    },
    landInOrder: landTogether,
    async landed(request, signal) {
      signal.throwIfAborted();
      const tested = testedOf(request);
      if (!('change' in tested)) return [];
      return landedSoFar(tested, await deps.openGit(tested.change.project));
    },
  };
}

/** The first ones that can be landed at all, and why the next cannot. */
function ableOf(requests: readonly LandingRequest[]): {
  readonly able: readonly TestedChange[];
  readonly refusal: LandingOutcome;
} {
  const able: TestedChange[] = [];
  for (const request of requests) {
    const tested = testedOf(request);
    if (!('change' in tested)) return { able, refusal: tested };
    able.push(tested);
  }
  return { able, refusal: { kind: 'refused', text: 'nothing was tested' } };
}

function testedOf({ change, tested }: LandingRequest): TestedChange | LandingOutcome {
  if (change.kind === 'ref')
    return { kind: 'refused', text: `${change.ref} is where it should be; there is nothing to merge` };
  return tested === undefined ? { kind: 'refused', text: 'nothing was tested' } : { change, tested };
}

function clean(outcome: LandingOutcome, { secrets }: LandingDeps): LandingOutcome {
  return outcome.kind === 'landed' || outcome.kind === 'later'
    ? outcome
    : { ...outcome, text: redact(outcome.text, secrets) };
}
