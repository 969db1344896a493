/** Forms of stream events and of rows of `gerrit query`: fields, types, absences. Taken from a real Gerrit 3.2. A field that is not listed here is a violation. */
import Type, { type TSchema } from 'typebox';

const strict = <const T extends { readonly [name: string]: TSchema }>(fields: T) =>
  Type.Object(fields, { additionalProperties: false });
const maybe = Type.Optional;
const commitId = Type.String({ pattern: '^[0-9a-f]{40}$' });
const seconds = Type.Integer();
const account = strict({
  name: maybe(Type.String()),
  email: maybe(Type.String()),
  username: maybe(Type.String()),
});

const changeFields = {
  project: Type.String(),
  branch: Type.String(),
  topic: maybe(Type.String()),
  id: Type.String({ pattern: '^I[0-9a-f]{40}$' }),
  number: Type.Integer(),
  subject: Type.String(),
  owner: account,
  assignee: maybe(account),
  url: Type.String(),
  commitMessage: Type.String(),
  /** Absent: none. */
  hashtags: maybe(Type.Array(Type.String(), { minItems: 1 })),
  createdOn: seconds,
  status: Type.Union(['NEW', 'MERGED', 'ABANDONED'].map(each => Type.Literal(each))),
  /** True or absent. */
  wip: maybe(Type.Literal(true)),
  private: maybe(Type.Literal(true)),
};
const change = strict(changeFields);

const patchSetFields = {
  number: Type.Integer(),
  revision: commitId,
  parents: Type.Array(commitId),
  ref: Type.String({ pattern: '^refs/changes/\\d\\d/\\d+/\\d+$' }),
  uploader: account,
  createdOn: seconds,
  author: account,
  kind: Type.String(),
  sizeInsertions: Type.Integer(),
  /** Negative. */
  sizeDeletions: Type.Integer({ maximum: 0 }),
};
const patchSet = strict(patchSetFields);

/** Values are texts; `oldValue` only where the event changed it. */
const approvals = Type.Array(
  strict({
    type: Type.String(),
    description: Type.String(),
    value: Type.String({ pattern: '^-?\\d+$' }),
    oldValue: maybe(Type.String({ pattern: '^-?\\d+$' })),
  }),
);

const ofChange = {
  change,
  project: Type.String(),
  refName: Type.String({ pattern: '^refs/heads/' }),
  changeKey: strict({ id: Type.String() }),
};
const ofPatchSet = { ...ofChange, patchSet };
const texts = Type.Array(Type.String());

const FIELDS: { readonly [type: string]: { readonly [name: string]: TSchema } } = {
  'patchset-created': { ...ofPatchSet, uploader: account },
  'comment-added': { ...ofPatchSet, author: account, approvals: maybe(approvals), comment: Type.String() },
  'change-merged': { ...ofPatchSet, submitter: account, newRev: commitId },
  'change-abandoned': { ...ofPatchSet, abandoner: account, reason: maybe(Type.String()) },
  'change-restored': { ...ofPatchSet, restorer: account, reason: maybe(Type.String()) },
  'change-deleted': { ...ofChange, deleter: account },
  'vote-deleted': {
    ...ofPatchSet,
    ...{ reviewer: account, remover: account, approvals, comment: Type.String() },
  },
  'reviewer-added': { ...ofPatchSet, reviewer: account, adder: maybe(account) },
  'reviewer-deleted': {
    ...ofPatchSet,
    ...{ reviewer: account, remover: account, approvals: maybe(approvals), comment: Type.String() },
  },
  'assignee-changed': { ...ofChange, changer: account, oldAssignee: maybe(account) },
  'hashtags-changed': {
    ...ofChange,
    editor: account,
    added: maybe(texts),
    removed: maybe(texts),
    hashtags: maybe(texts),
  },
  'topic-changed': { ...ofChange, changer: account, oldTopic: maybe(Type.String()) },
  'wip-state-changed': { ...ofPatchSet, changer: account },
  'private-state-changed': { ...ofPatchSet, changer: account },
  'ref-updated': {
    submitter: maybe(account),
    refUpdate: strict({
      oldRev: commitId,
      newRev: commitId,
      refName: Type.String(),
      project: Type.String(),
    }),
  },
  'project-created': { projectName: Type.String(), headName: Type.String() },
  'project-head-updated': {
    projectName: Type.String(),
    oldHead: Type.String(),
    newHead: Type.String(),
  },
};

/** By type. */
export const EVENT_SHAPES: ReadonlyMap<string, TSchema> = new Map(
  Object.entries(FIELDS).map(([type, fields]) => [
    type,
    strict({ ...fields, type: Type.Literal(type), eventCreatedOn: seconds }),
  ]),
);

const listOf = (fields: { readonly [name: string]: TSchema }) => maybe(Type.Array(strict(fields)));

const queriedPatchSet = strict({
  ...patchSetFields,
  /** Without `description`: the submit of a merged change, `SUBM`. */
  approvals: listOf({
    type: Type.String(),
    description: maybe(Type.String()),
    value: Type.String({ pattern: '^-?\\d+$' }),
    grantedOn: seconds,
    by: account,
  }),
  comments: listOf({ file: Type.String(), line: Type.Integer(), reviewer: account, message: Type.String() }),
  files: listOf({
    file: Type.String(),
    fileOld: maybe(Type.String()),
    type: Type.String(),
    insertions: Type.Integer(),
    deletions: Type.Integer({ maximum: 0 }),
  }),
});

const queriedDependencies = listOf({
  id: Type.String(),
  number: Type.Integer(),
  revision: commitId,
  ref: Type.String(),
  isCurrentPatchSet: maybe(Type.Boolean()),
});

/** A change as `gerrit query` shows it with the options that the driver asks with. */
export const QUERY_ROW_SHAPE: TSchema = strict({
  ...changeFields,
  commitMessage: maybe(Type.String()),
  lastUpdated: seconds,
  open: Type.Boolean(),
  comments: listOf({ timestamp: seconds, reviewer: account, message: Type.String() }),
  currentPatchSet: maybe(queriedPatchSet),
  patchSets: maybe(Type.Array(queriedPatchSet)),
  dependsOn: queriedDependencies,
  neededBy: queriedDependencies,
  allReviewers: maybe(Type.Array(account)),
  submitRecords: listOf({
    status: Type.String(),
    labels: listOf({ label: Type.String(), status: Type.String(), by: maybe(account) }),
    requirements: maybe(Type.Array(Type.Unknown())),
  }),
});
