/**
 * What GitHub's refusal of a push means, by its words, and what to do about it. Pure.
 *
 *     GH006: Protected branch update failed for refs/heads/main.; Required status check "acme/gate" is expected.
 *     GH013: Repository rule violations found for refs/heads/main.; Changes must be made through a pull request.
 */

/** What happens next. */
export type PushRefusal =
  /** The pushed commit itself must have passed checks; their names, as far as GitHub says them. */
  | { readonly kind: 'needs-checks'; readonly names: readonly string[] }
  | { readonly kind: 'refused'; readonly text: string };

/** The first that fits is the advice. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [/workflow/i, 'give the App the permission workflows: write'],
  [
    /merge queue/i,
    'the branch takes changes from GitHub’s own merge queue only: let the App bypass that rule, or answer the queue (merge_group)',
  ],
  [
    /through a pull request|approving review|review (is )?required|code owner/i,
    'let the App bypass the rule that requires a pull request, or set landing = api',
  ],
  [
    /verified signature|must be signed|signed commits/i,
    'set landing = api: GitHub signs the commits it makes',
  ],
  [/merge commits?/i, 'the branch has a linear history: use merge-mode squash-merge or rebase'],
  [/locked/i, 'the branch is locked'],
  [/not (authorized|allowed) to push|restricted|cannot update/i, 'let the App push to the branch'],
  [/deploy/i, 'let the App bypass the rule that requires deployments, or set landing = api'],
  [/conversation/i, 'resolve the conversations, or let the App bypass the rule'],
];

/** Checks that GitHub names as missing; of more than one it gives the number alone. @param said its words. */
export function requiredChecksIn(said: string): readonly string[] {
  return [...said.matchAll(/status check "([^"]{1,255})"/gi)].flatMap(([, name]) => name ?? []);
}

/** @param said lines of the refusal, joined. */
export function judgePushRefusal(said: string): PushRefusal {
  const others = ADVICE.find(([words]) => words.test(said));
  if (others === undefined && /status checks?|required checks?/i.test(said))
    return { kind: 'needs-checks', names: requiredChecksIn(said) };
  const advice = others === undefined ? '' : `; ${others[1]}`;
  return { kind: 'refused', text: `GitHub refused the push: ${said.slice(0, 600)}${advice}` };
}
