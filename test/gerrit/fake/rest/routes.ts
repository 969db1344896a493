/** Every request that the fake knows, with the name by which faults and counts know it. */

import type { RestAnswer, RestCall } from './call.ts';
import {
  getBranch,
  getCommit,
  getConfig,
  getHead,
  getLabels,
  getProject,
  getTag,
  listBranches,
  listProjects,
  putBranch,
  removeBranch,
} from './projects.ts';
import { getChange, getDetail, queryChanges } from './read-changes.ts';
import { listComments, listFiles, listMessages } from './read-history.ts';
import { getFiles, getMessages } from './read-parts.ts';
import { postReview } from './review-request.ts';
import { getAccount, getAccountDetail, getCapabilities, getServerInfo, getVersion } from './server-info.ts';
import { getRelated, getSubmittedTogether, postSubmit, postSubmitPatchSet } from './submit-request.ts';
import {
  deletePrivate,
  deleteTopic,
  postAbandon,
  postHashtags,
  postMove,
  postPrivate,
  postReady,
  postRestore,
  postReviewers,
  postWip,
  putMessage,
  putTopic,
  removeChange,
  removeReviewer,
  removeVote,
} from './write-changes.ts';

export interface Route {
  readonly operation: string;
  readonly method: string;
  readonly path: RegExp;
  readonly handle: (call: RestCall) => Promise<RestAnswer> | RestAnswer;
}

/** `:` is one part of a path, in which `/` is written `%2F`. A trailing slash does not count. */
function route(operation: string, method: string, path: string, handle: Route['handle']): Route {
  return { operation, method, path: new RegExp(`^${path.replaceAll(':', '([^/]+)')}/?$`), handle };
}

export const ROUTES: readonly Route[] = [
  route('changes/query', 'GET', 'changes', queryChanges),
  route('changes/get', 'GET', 'changes/:', call => getChange(call)),
  route('changes/detail', 'GET', 'changes/:/detail', getDetail),
  route('changes/messages', 'GET', 'changes/:/messages', getMessages),
  route('changes/files', 'GET', 'changes/:/revisions/:/files', getFiles),
  route('changes/review', 'POST', 'changes/:/revisions/:/review', postReview),
  route('changes/submit', 'POST', 'changes/:/submit', postSubmit),
  route('changes/submit', 'POST', 'changes/:/revisions/:/submit', postSubmitPatchSet),
  route('changes/messages', 'GET', 'changes/:/messages', listMessages),
  route('changes/comments', 'GET', 'changes/:/comments', listComments),
  route('changes/files', 'GET', 'changes/:/revisions/:/files', listFiles),
  route('changes/related', 'GET', 'changes/:/revisions/:/related', getRelated),
  route('changes/submitted-together', 'GET', 'changes/:/submitted_together', getSubmittedTogether),
  route('changes/abandon', 'POST', 'changes/:/abandon', postAbandon),
  route('changes/restore', 'POST', 'changes/:/restore', postRestore),
  route('changes/wip', 'POST', 'changes/:/wip', postWip),
  route('changes/ready', 'POST', 'changes/:/ready', postReady),
  route('changes/private', 'POST', 'changes/:/private', postPrivate),
  route('changes/private', 'DELETE', 'changes/:/private', deletePrivate),
  route('changes/topic', 'PUT', 'changes/:/topic', putTopic),
  route('changes/topic', 'DELETE', 'changes/:/topic', deleteTopic),
  route('changes/hashtags', 'POST', 'changes/:/hashtags', postHashtags),
  route('changes/move', 'POST', 'changes/:/move', postMove),
  route('changes/message', 'PUT', 'changes/:/message', putMessage),
  route('changes/reviewers', 'POST', 'changes/:/reviewers', postReviewers),
  route('changes/reviewer/delete', 'DELETE', 'changes/:/reviewers/:', removeReviewer),
  route('changes/reviewer/delete', 'POST', 'changes/:/reviewers/:/delete', removeReviewer),
  route('changes/vote/delete', 'DELETE', 'changes/:/reviewers/:/votes/:', removeVote),
  route('changes/vote/delete', 'POST', 'changes/:/reviewers/:/votes/:/delete', removeVote),
  route('changes/delete', 'DELETE', 'changes/:', removeChange),
  route('projects/list', 'GET', 'projects', listProjects),
  route('projects/get', 'GET', 'projects/:', getProject),
  route('projects/head', 'GET', 'projects/:/HEAD', getHead),
  route('projects/labels', 'GET', 'projects/:/labels', getLabels),
  route('projects/config', 'GET', 'projects/:/config', getConfig),
  route('projects/commit', 'GET', 'projects/:/commits/:', getCommit),
  route('projects/branches', 'GET', 'projects/:/branches', listBranches),
  route('projects/branch', 'GET', 'projects/:/branches/:', getBranch),
  route('projects/tag', 'GET', 'projects/:/tags/:', getTag),
  route('projects/branch/create', 'PUT', 'projects/:/branches/:', putBranch),
  route('projects/branch/delete', 'DELETE', 'projects/:/branches/:', removeBranch),
  route('accounts/get', 'GET', 'accounts/:', getAccount),
  route('accounts/detail', 'GET', 'accounts/:/detail', getAccountDetail),
  route('accounts/capabilities', 'GET', 'accounts/self/capabilities', getCapabilities),
  route('config/version', 'GET', 'config/server/version', getVersion),
  route('config/info', 'GET', 'config/server/info', getServerInfo),
];
