/**
 * A change as `gerrit query` shows it → the ChangeInfo that REST would answer, as far as it is known: SSH shows no submit requirements, no
 * submit type, no conflicts, and nothing of what our account may vote. Pure.
 */
import { isMapping } from '../../../../src/driver/read-mapping.ts';
import type { Json } from '../../../../src/model/job.ts';
import { type JsonMapping, mappingsOf, textOf, textsOf, wholeOf } from '../info-json.ts';
import { historyTag, patchsetOfMessage } from './history-tag.ts';
import { sshAccount } from './ssh-account.ts';

const MOST = 1_000;
const MOST_MESSAGES = 10_000;
const LONGEST_NAME = 1_000;

/** @param username of our account. */
export function queriedChange(row: JsonMapping, username: string): JsonMapping {
  const { project, branch, topic, id, number, subject, status } = row;
  const current = isMapping(row.currentPatchSet) ? row.currentPatchSet : undefined;
  const patchsets = [
    ...mappingsOf(row.patchSets, MOST_MESSAGES),
    ...(current === undefined ? [] : [current]),
  ];
  return {
    ...defined({ project, branch, topic, subject, status, change_id: id, _number: number }),
    ...(row.wip === true ? { work_in_progress: true } : {}),
    ...(row.private === true ? { is_private: true } : {}),
    hashtags: row.hashtags ?? [],
    ...defined({
      owner: sshAccount(row.owner),
      created: timeText(row.createdOn),
      updated: timeText(row.lastUpdated),
      current_revision: current?.revision,
    }),
    revisions: Object.fromEntries(patchsets.flatMap(each => revisionOf(each, row.commitMessage))),
    labels: labelsOf(row, current),
    ...defined({ submit_records: recordsOf(row.submitRecords) }),
    messages: queriedMessages(row, username),
    reviewers: {
      REVIEWER: mappingsOf(row.allReviewers, MOST_MESSAGES).flatMap(each => sshAccount(each) ?? []),
    },
  };
}

function defined(members: { readonly [name: string]: Json | undefined }): JsonMapping {
  const entries = Object.entries(members).filter((entry): entry is [string, Json] => entry[1] !== undefined);
  return Object.fromEntries(entries);
}

/** Seconds as REST writes a time. */
function timeText(json: Json | undefined): string | undefined {
  const seconds = wholeOf(json);
  if (seconds === null || seconds < 0 || seconds > 1e10) return undefined;
  return `${new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ')}.000000000`;
}

/** @param message of the current patch set; it stands at each, and is read of the current one alone. */
function revisionOf(patchset: JsonMapping, message: Json | undefined): readonly [string, JsonMapping][] {
  const revision = textOf(patchset.revision, 64);
  if (revision === null) return [];
  const { number, ref } = patchset;
  const parents = textsOf(patchset.parents, MOST, 64).map(commit => ({ commit }));
  const members = defined({
    ...{ _number: number, ref },
    created: timeText(patchset.createdOn),
    uploader: sshAccount(patchset.uploader),
    commit: { parents, ...defined({ message }) },
  });
  return [[revision, members]];
}

/** Gerrit counts the submit of a merged change as a vote. */
const SUBMITTED = 'SUBM';

function labelsOf(row: JsonMapping, current: JsonMapping | undefined): JsonMapping {
  const approvals = mappingsOf(current?.approvals, MOST_MESSAGES).filter(({ type }) => type !== SUBMITTED);
  const records = mappingsOf(row.submitRecords, MOST).flatMap(each => mappingsOf(each.labels, MOST));
  const names = [...records.map(({ label }) => label), ...approvals.map(({ type }) => type)];
  const labels = [...new Set(names)].flatMap((name): readonly [string, JsonMapping][] => {
    if (typeof name !== 'string') return [];
    const record = records.find(({ label }) => label === name);
    const all = approvals.filter(({ type }) => type === name).map(voteOf);
    return [[name.slice(0, LONGEST_NAME), { all, ...stateOf(record) }]];
  });
  return Object.fromEntries(labels);
}

function voteOf({ value, by, grantedOn }: JsonMapping): JsonMapping {
  return { ...sshAccount(by), value: Number(value), ...defined({ date: timeText(grantedOn) }) };
}

/** @param record undefined: no rule looks at the label. */
function stateOf(record: JsonMapping | undefined): JsonMapping {
  const by = sshAccount(record?.by) ?? {};
  switch (record?.status) {
    case undefined:
    case 'MAY':
      return { optional: true };
    case 'OK':
      return { approved: by };
    case 'REJECT':
      return { rejected: by, blocking: true };
    default:
      return {};
  }
}

function recordsOf(json: Json | undefined): readonly JsonMapping[] | undefined {
  if (!Array.isArray(json)) return undefined;
  return mappingsOf(json, MOST).map(({ status, labels, requirements, errorMessage }) =>
    defined({ status, labels, requirements, error_message: errorMessage }),
  );
}

/** The history, oldest first; of more than 10 000 messages the newest. SSH shows no ids: time and place stand for one. */
export function queriedMessages(row: JsonMapping, username: string): readonly JsonMapping[] {
  const all = Array.isArray(row.comments) ? row.comments : [];
  const first = Math.max(0, all.length - MOST_MESSAGES);
  return mappingsOf(all.slice(first), MOST_MESSAGES).map((comment, index) => {
    const place = first + index;
    const message = textOf(comment.message, 100_000) ?? '';
    const author = sshAccount(comment.reviewer);
    return {
      id: `${wholeOf(comment.timestamp) ?? 0}.${place}`,
      message,
      ...defined({
        author,
        date: timeText(comment.timestamp),
        tag: historyTag(message, author?.username === username),
        _revision_number: patchsetOfMessage(message),
      }),
    };
  });
}
