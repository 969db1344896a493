/**
 * For changes of which branches a definition counts that has no `branches` of its own.
 *
 * Zuul's rules, from the strongest: the pragma `implied-branch-matchers` of the file, `implied-branch-matchers` of the project in the tenant
 * file, and else whether it is an untrusted project of which more than one branch is read. The pragma `implied-branches` takes the place of
 * the file's own branch.
 *
 *     - pragma: {implied-branches: [stable/.*]}      jobs and templates of this file count for stable/1.0 and stable/2.0
 */
import type { ConfigError } from '../../model/config-error.ts';
import type { TenantProject } from '../../model/layout.ts';
import { type Matcher, matcherText, matches } from '../reading/matcher.ts';
import { errorAt } from './config-place.ts';
import type { FreezeChange } from './freeze-request.ts';
import type { BranchScope, LayoutFile } from './layout.ts';

/**
 * Of the jobs and templates of a file; undefined: all branches.
 *
 * @param isBranched more than one branch of the project is read.
 */
export function impliedScope(
  file: LayoutFile,
  project: TenantProject,
  isBranched: boolean,
): BranchScope | undefined {
  let isImplied = project.impliedBranchMatchers;
  let matchers: readonly Matcher[] | undefined;
  for (const stanza of file.parsed.stanzas) {
    if (stanza.kind === 'broken' && stanza.of === 'pragma') {
      const { offset, code, text } = stanza.problems[0];
      return { kind: 'unknown', error: errorAt(file, offset, code, text) };
    }
    if (stanza.kind !== 'pragma') continue;
    isImplied = stanza.impliedBranchMatchers ?? isImplied;
    matchers = stanza.impliedBranches ?? matchers;
  }
  if (!(isImplied ?? (isBranched && !project.trusted))) return undefined;
  return matchers === undefined ? { kind: 'branch', branch: file.branch } : scopeOf(matchers);
}

/** As `branches` has them; an empty list limits nothing. */
export function scopeOf(matchers: readonly Matcher[]): BranchScope | undefined {
  return matchers.length === 0 ? undefined : { kind: 'matchers', matchers };
}

/** A ref without a branch counts by the branches that hold it, and by its own name for expressions. */
export function isInScope(scope: BranchScope | undefined, change: FreezeChange): boolean {
  switch (scope?.kind) {
    case undefined:
    case 'unknown':
      return true;
    case 'branch':
      if (change.branch !== null) return change.branch === scope.branch;
      return (change.containingBranches ?? []).includes(scope.branch);
    case 'matchers':
      return scope.matchers.some(matcher => branchesOf(change).some(branch => matches(matcher, branch)));
  }
}

function branchesOf({ branch, ref, containingBranches = [] }: FreezeChange): readonly string[] {
  if (branch !== null) return [branch];
  return ref === undefined ? containingBranches : [ref, ...containingBranches];
}

/** For people. */
export function scopeText(scope: BranchScope | undefined): string {
  switch (scope?.kind) {
    case undefined:
    case 'unknown':
      return 'all branches';
    case 'branch':
      return `branch ${scope.branch} only`;
    case 'matchers':
      return `branches ${matcherText(scope.matchers)}`;
  }
}

/** What has such a scope is broken by it. */
export function unknownScopeError(scope: BranchScope | undefined): ConfigError | undefined {
  return scope?.kind === 'unknown' ? scope.error : undefined;
}
