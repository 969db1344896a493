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
