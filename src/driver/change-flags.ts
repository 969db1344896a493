/** Yes-or-no questions about a change in `require` and `reject`: `open: true`, `draft: false`. Pure. */

/** One question, with both answers as clauses. */
export interface FlagQuestion<Asked> {
  readonly holds: (asked: Asked) => boolean;
  readonly yes: string;
  readonly no: string;
}

/** A question whose answer is named in the configuration. */
export interface WantedFlag<Asked> {
  /** The answer that is named. */
  readonly text: string;
  /** @returns the other answer, where that is the change's. */
  readonly missing: (asked: Asked) => string | undefined;
  /** @returns the named answer, where that is the change's. */
  readonly found: (asked: Asked) => string | undefined;
}

/** Of the questions that the configuration names, in the order of the table. */
export function wantedFlags<Flag extends string, Asked>(
  questions: { readonly [flag in Flag]: FlagQuestion<Asked> },
  wanted: { readonly [flag in NoInfer<Flag>]?: boolean },
): readonly WantedFlag<Asked>[] {
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
