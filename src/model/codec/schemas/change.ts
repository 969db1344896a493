/** Changes and ref updates, and what the host last said of them. */
import type { Change, ChangeRecord, ChangeTopic } from '../../change.ts';
import type { MergeMode } from '../../merge-mode.ts';
import type { MergeText } from '../../merge-text.ts';
import {
  byName,
  change,
  commit,
  flag,
  json,
  list,
  mark,
  nullable,
  object,
  optional,
  project,
  tagged,
  text,
  time,
  whole,
  words,
} from '../schema.ts';

/** {@link MergeMode}, which need not be there. */
export const mergeMode = optional(
  words<MergeMode>({
    merge: 1,
    'merge-resolve': 1,
    'merge-ort': 1,
    'merge-recursive': 1,
    'squash-merge': 1,
    rebase: 1,
    'cherry-pick': 1,
  }),
);

/** {@link Change} */
export const changeSchema = tagged<Change, 'kind'>('kind', {
  change: {
    key: change,
    project,
    url: optional(text),
    branch: text,
    id: text,
    patchset: text,
    commit,
    ref: text,
    subject: text,
    owner: optional(text),
    mergeText: optional(object<MergeText>({ title: text, body: text, reviewers: list(text) })),
    mergeMode,
  },
  ref: {
    key: change,
    project,
    url: optional(text),
    ref: text,
    branch: optional(text),
    targetBranch: optional(text),
    oldCommit: nullable(commit),
    newCommit: nullable(commit),
    tree: optional(text),
  },
});

/** {@link ChangeRecord}, the record `change`. */
export const changeRecordSchema = object<ChangeRecord>({
  change: changeSchema,
  status: words<ChangeRecord['status']>({ open: 1, merged: 1, abandoned: 1 }),
  dependsOn: list(change),
  unresolvedDependencies: list(text),
  builtOn: optional(list(change)),
  topic: optional(object<ChangeTopic>({ name: text, landsWhole: flag, isTooLarge: optional(mark) })),
  facts: json,
  fetchedAt: time,
  ownReports: optional(byName(whole)),
});
