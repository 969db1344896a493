/** Milliseconds that GitHub gets to compute whether a pull request can be merged, or to notice where a branch is. */
export const SHORT_WAIT_MS = 2_000;
