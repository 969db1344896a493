/** Links of a chain as values, shared by the ways to make them. */
import type { ObjectId } from '../objects/object-id.ts';

/** A commit with what the next link needs of it. */
export interface LinkState {
  readonly commit: ObjectId;
  readonly tree: ObjectId;
  /** Committer date, seconds since the Unix epoch; no successor lies before it. */
  readonly committedAt: number;
}

/** The state after the change, or why there is none. */
export type LinkResult =
  | { readonly kind: 'link'; readonly state: LinkState }
  | { readonly kind: 'conflict'; readonly files: readonly string[] }
  /** The change shares no commit with the branch. */
  | { readonly kind: 'unrelated' }
  /** A limit of ours; `text` is a clause with the change as its subject, e.g. `has more than 250 commits`. */
  | { readonly kind: 'refused'; readonly text: string };
