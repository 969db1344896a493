/**
 * Forms of REST answers that the driver relies on: fields, types, absences. Taken from a real Gerrit 3.2; fields of later versions are
 * marked. A field that is not listed here is a violation: in the fake it would be made up.
 */
import Type, { type TSchema } from 'typebox';

const strict = <const T extends { readonly [name: string]: TSchema }>(fields: T) =>
  Type.Object(fields, { additionalProperties: false });
const maybe = Type.Optional;
const anything = Type.Unknown();
/** UTC, without a zone. */
const time = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d\\.\\d{9}$' });
const commitId = Type.String({ pattern: '^[0-9a-f]{40}$' });
const count = Type.Integer();

const account = Type.Object({
  _account_id: Type.Integer(),
  name: maybe(Type.String()),
  email: maybe(Type.String()),
  username: maybe(Type.String()),
});

/** A vote has no value where its account may vote and has not. */
const label = strict({
  approved: maybe(account),
  rejected: maybe(account),
  recommended: maybe(account),
  disliked: maybe(account),
  blocking: maybe(Type.Boolean()),
  optional: maybe(Type.Boolean()),
  value: maybe(Type.Integer()),
  default_value: maybe(Type.Integer()),
  values: maybe(Type.Record(Type.String({ pattern: '^( 0|[+-]\\d+)$' }), Type.String())),
  all: maybe(Type.Array(account)),
  /** 3.5 and later. */
  description: maybe(Type.String()),
  votes: maybe(anything),
});

const commit = strict({
  commit: maybe(commitId),
  parents: Type.Array(Type.Object({ commit: commitId, subject: maybe(Type.String()) })),
  author: anything,
  committer: maybe(anything),
  subject: Type.String(),
  message: maybe(Type.String()),
});

const revision = strict({
  kind: Type.String(),
  _number: Type.Integer(),
  created: time,
  uploader: account,
  ref: Type.String({ pattern: '^refs/changes/\\d\\d/\\d+/\\d+$' }),
  /** `{}` without the download-commands plug-in. */
  fetch: Type.Object({}),
  commit: maybe(commit),
  files: maybe(anything),
  actions: maybe(anything),
  description: maybe(Type.String()),
  branch: maybe(Type.String()),
});

const message = strict({
  id: Type.String(),
  tag: maybe(Type.String()),
  author: maybe(account),
  real_author: maybe(account),
  date: time,
  message: Type.String(),
  _revision_number: maybe(Type.Integer()),
  accounts_in_message: maybe(anything),
});

/** No `status` of it says whether a submit succeeded: it may be `NEW` in the answer of one that did. */
export const changeShape = strict({
  id: Type.String(),
  triplet_id: maybe(Type.String()),
  project: Type.String(),
  branch: Type.String(),
  topic: maybe(Type.String()),
  assignee: maybe(account),
  attention_set: maybe(anything),
  removed_from_attention_set: maybe(anything),
  hashtags: Type.Array(Type.String()),
  change_id: Type.String({ pattern: '^I[0-9a-f]{40}$' }),
  subject: Type.String(),
  status: Type.Union(['NEW', 'MERGED', 'ABANDONED'].map(each => Type.Literal(each))),
  created: time,
  updated: time,
  submitted: maybe(time),
  submitter: maybe(account),
  submit_type: maybe(Type.String()),
  mergeable: maybe(Type.Boolean()),
  submittable: maybe(Type.Boolean()),
  insertions: count,
  deletions: count,
  total_comment_count: maybe(count),
  unresolved_comment_count: maybe(count),
  has_review_started: maybe(Type.Boolean()),
  submission_id: maybe(Type.String()),
  meta_rev_id: maybe(Type.String()),
  virtual_id_number: maybe(Type.Integer()),
  revert_of: maybe(Type.Integer()),
  cherry_pick_of_change: maybe(Type.Integer()),
  cherry_pick_of_patch_set: maybe(Type.Integer()),
  current_revision_number: maybe(Type.Integer()),
  _number: Type.Integer(),
  owner: account,
  actions: maybe(anything),
  labels: maybe(Type.Record(Type.String(), label)),
  permitted_labels: maybe(
    Type.Record(Type.String(), Type.Array(Type.String({ pattern: '^( 0|[+-]\\d+)$' }))),
  ),
  removable_labels: maybe(anything),
  removable_reviewers: maybe(Type.Array(account)),
  reviewers: maybe(Type.Record(Type.String(), Type.Array(account))),
  pending_reviewers: maybe(anything),
  reviewer_updates: maybe(anything),
  messages: maybe(Type.Array(message)),
  current_revision: maybe(commitId),
  revisions: maybe(Type.Record(Type.String(), revision)),
  tracking_ids: maybe(anything),
  requirements: maybe(Type.Array(anything)),
  submit_records: maybe(Type.Array(anything)),
  submit_requirements: maybe(Type.Array(anything)),
  /** True or absent. */
  is_private: maybe(Type.Literal(true)),
  work_in_progress: maybe(Type.Literal(true)),
  contains_git_conflicts: maybe(Type.Literal(true)),
  _more_changes: maybe(Type.Literal(true)),
});

/** Labels that Gerrit does not know are left out of it. */
const reviewed = Type.Object({ labels: maybe(Type.Record(Type.String(), Type.Integer())) });
const branch = Type.Object({ ref: Type.String(), revision: Type.String() });

/** By method and path below the root; the first that fits counts. Status 200 and 201 with JSON. */
export const ANSWER_SHAPES: readonly {
  readonly method: string;
  readonly path: RegExp;
  readonly shape: TSchema;
}[] = [
  { method: 'GET', path: /^changes\/\?/, shape: Type.Array(changeShape) },
  { method: 'GET', path: /^changes\/[^/]+(\/detail)?(\?|$)/, shape: changeShape },
  {
    method: 'GET',
    path: /^changes\/[^/]+\/submitted_together/,
    shape: Type.Union([Type.Array(changeShape), Type.Object({ changes: Type.Array(changeShape) })]),
  },
  {
    method: 'POST',
    path: /^changes\/[^/]+\/(revisions\/[^/]+\/)?(submit|abandon|restore|move|revert)$/,
    shape: changeShape,
  },
  { method: 'POST', path: /^changes\/[^/]+\/revisions\/[^/]+\/review$/, shape: reviewed },
  { method: 'GET', path: /^projects\/[^/]+\/branches\/(\?|$)/, shape: Type.Array(branch) },
  { method: 'GET', path: /^projects\/[^/]+\/branches\/[^/]+$/, shape: branch },
  { method: 'GET', path: /^accounts\/self(\/detail)?$/, shape: account },
];
