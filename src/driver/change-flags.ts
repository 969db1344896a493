/** Yes-or-no questions about a change in `require` and `reject`: `open: true`, `draft: false`. Pure. */
import type { RequirementClause } from './requirement.ts';

/** One question, with both answers as clauses. */
export interface FlagQuestion<Asked> {
  readonly holds: (asked: Asked) => boolean;
  readonly yes: string;
  readonly no: string;
}

/** Of the questions that the configuration names, in the order of the table. */
export function wantedFlags<Flag extends string, Asked>(
  questions: { readonly [flag in Flag]: FlagQuestion<Asked> },
  wanted: { readonly [flag in NoInfer<Flag>]?: boolean },
): readonly RequirementClause<Asked>[] {
  return Object.entries<FlagQuestion<Asked>>(questions).flatMap(([flag, { holds, yes, no }]) => {
    const answer = Object.entries<boolean | undefined>(wanted).find(([name]) => name === flag)?.[1];
    if (answer === undefined) return [];
    const textOf = (given: boolean) => (given ? yes : no);
    const clause = (asked: Asked, given: boolean) => (holds(asked) === given ? textOf(given) : undefined);
    return [
      {
        text: textOf(answer),
        missing: asked => clause(asked, !answer),
        found: asked => clause(asked, answer),
      },
    ];
  });
}
