/** Builds and buildsets as the database has them, or as the record of a live item gives them. */
import type { BuildRow, BuildsetRow, RefRow } from './item-rows.ts';

/** `id` is null for a build that is not in the database yet. */
export type NumberedBuild = BuildRow & { readonly id: number | null };

/** One line of a list of builds; `ref` is the first change of the buildset, `refs` are all of them. */
export interface BuildFacts extends NumberedBuild {
  readonly buildset: BuildsetRow;
  readonly ref: RefRow;
  readonly refs: readonly RefRow[];
}

/** A buildset with all its changes; `id` is null while its item is still in its queue. */
export interface BuildsetFacts extends BuildsetRow {
  readonly id: number | null;
  readonly refs: readonly RefRow[];
}
