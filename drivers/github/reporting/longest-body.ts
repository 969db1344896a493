/** GitHub's limit on texts, in characters: of a check run's summary, and of a comment's or review's body. */
export const LONGEST_BODY = 65_535;
