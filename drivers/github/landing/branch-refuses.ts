/** What a branch refuses of any change, because of how changes land there. */
import type { MergeMode } from '../../../src/model/merge-mode.ts';
import type { BranchRules } from '../facts.ts';
import type { LandingCase } from './landing-case.ts';

type Landing = Pick<LandingCase, 'place' | 'mode' | 'method'>;

/** @param mergeMode default `merge`; the kinds of merges are one method at GitHub. */
export function mergeMethodOf(mergeMode: MergeMode = 'merge'): LandingCase['method'] {
  if (mergeMode === 'squash-merge') return 'squash';
  return mergeMode === 'rebase' || mergeMode === 'cherry-pick' ? mergeMode : 'merge';
}

/** @returns the rule and what to do; undefined: a change that meets the other rules may land. */
export function branchRefuses(rules: BranchRules, { place, mode, method }: Landing): string | undefined {
  if (rules.locked) return `${place} is locked`;
  if (rules.mergeQueue) return `${place} takes changes from GitHub's own merge queue only`;
  return mode === 'push' ? pushRefused(rules, place, method) : mergeRefused(rules, place, method);
}

function pushRefused(rules: BranchRules, place: string, method: LandingCase['method']): string | undefined {
  if (rules.signatures)
    return `${place} requires signed commits, and what is pushed is not signed: set landing = api`;
  return rules.linearHistory && method === 'merge' ? notLinear(place) : undefined;
}

function mergeRefused(
  { methods, linearHistory }: BranchRules,
  place: string,
  method: LandingCase['method'],
): string | undefined {
  if (method === 'cherry-pick') return 'GitHub cannot cherry-pick a pull request: set landing = push';
  if (linearHistory && method === 'merge') return notLinear(place);
  if (methods.includes(method)) return undefined;
  return `${place} does not allow the merge method ${method}, only ${methods.join(' or ') || 'none'}: use another merge-mode`;
}

function notLinear(place: string): string {
  return `${place} requires a linear history, and a merge is not linear: use merge-mode squash-merge or rebase`;
}
