/** The query by which a branch or tag is read after a push. */

/** `ref`: its full name. */
export const REF_STATE = `query RefState($owner: String!, $name: String!, $ref: String!) {
  repository(owner: $owner, name: $name) {
    nameWithOwner
    ref(qualifiedName: $ref) {
      target {
        __typename oid
        ... on Commit { tree { oid } }
        ... on Tag { target { __typename oid ... on Tag { target { __typename oid } } } }
      }
    }
  }
}`;

/** What an object marks, if it is a tag. `object`: its id. */
export const MARKED_COMMIT = `query MarkedCommit($owner: String!, $name: String!, $object: GitObjectID!) {
  repository(owner: $owner, name: $name) {
    object(oid: $object) {
      __typename oid
      ... on Tag { target { __typename oid ... on Tag { target { __typename oid } } } }
    }
  }
}`;

/** The answer to {@link MARKED_COMMIT}. `object` null: GitHub does not have it any more. */
export interface MarkedCommitAnswer {
  readonly repository: { readonly object: MarkedObject | null } | null;
}

/** The answer to {@link REF_STATE}. */
export interface RefStateAnswer {
  readonly repository: {
    readonly nameWithOwner: string;
    /** Null: there is no such ref. */
    readonly ref: {
      readonly target: (MarkedObject & { readonly tree?: { readonly oid: string } }) | null;
    } | null;
  } | null;
}

/** A commit, or a tag with what it marks. */
export interface MarkedObject {
  readonly __typename: string;
  readonly oid: string;
  /** Of an annotated tag: what it marks, which may be another tag. */
  readonly target?: MarkedObject;
}
