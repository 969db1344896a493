/**
 * Requests to Gerrit's REST API, answered over SSH: for an account with a key and without a password for HTTP.
 *
 *     GET changes/…            gerrit query                 read-queried.ts, related-changes.ts
 *     GET projects/…           git ls-remote                project-refs.ts
 *     GET accounts, config     commands, the settings       about-server.ts
 *     POST …/review            gerrit review                write-review.ts
 *     POST …/submit            gerrit review --submit       write-review.ts
 *
 * Of these: run-query.ts, queried-change.ts, patchset-names.ts, history-tag.ts; ssh-account.ts, ssh-asked.ts, ssh-refused.ts.
 *
 * So the rest of the driver has one form of question and answer. Anything else is refused with 501: it is not to be had over SSH.
 */
import type { GerritCarried, GerritCarrier } from '../carrier.ts';
import type { GerritRequest } from '../port.ts';
import { ownAccount, ownCapabilities, serverInfo, serverVersion } from './about-server.ts';
import { listProjectBranches, readProjectBranch, readProjectShown, readProjectTag } from './project-refs.ts';
import {
  listPatchsetComments,
  listPatchsetFiles,
  listQueried,
  listQueriedMessages,
  readQueried,
} from './read-queried.ts';
import { listRelated, listSubmittedTogether } from './related-changes.ts';
import type { SshAsked, SshCarrierDeps } from './ssh-asked.ts';
import { refusedOverSsh } from './ssh-refused.ts';
import { postReview, postSubmit } from './write-review.ts';

type Answerer = (asked: SshAsked, deps: SshCarrierDeps) => Promise<GerritCarried> | GerritCarried;

/** `:` is one part of a path. */
const ROUTES: readonly (readonly [method: string, path: string, answer: Answerer])[] = [
  ['GET', 'changes', listQueried],
  ['GET', 'changes/:/detail', readQueried],
  ['GET', 'changes/:/messages', listQueriedMessages],
  ['GET', 'changes/:/comments', listPatchsetComments],
  ['GET', 'changes/:/submitted_together', listSubmittedTogether],
  ['GET', 'changes/:/revisions/:/related', listRelated],
  ['GET', 'changes/:/revisions/:/files', listPatchsetFiles],
  ['POST', 'changes/:/revisions/:/review', postReview],
  ['POST', 'changes/:/revisions/:/submit', postSubmit],
  ['GET', 'projects/:', readProjectShown],
  ['GET', 'projects/:/branches', listProjectBranches],
  ['GET', 'projects/:/branches/:', readProjectBranch],
  ['GET', 'projects/:/tags/:', readProjectTag],
  ['GET', 'projects/:/config', readProjectShown],
  ['GET', 'accounts/self', ownAccount],
  ['GET', 'accounts/self/detail', ownAccount],
  ['GET', 'accounts/self/capabilities', ownCapabilities],
  ['GET', 'config/server/version', serverVersion],
  ['GET', 'config/server/info', serverInfo],
];

const COMPILED = ROUTES.map(([method, path, answer]) => ({
  method,
  pattern: new RegExp(`^${path.replaceAll(':', '([^/]+)')}/?$`),
  answer,
}));

export function createSshCarrier(deps: SshCarrierDeps): GerritCarrier {
  return {
    secrets: [],
    async carry({ method, path, body }: GerritRequest, signal) {
      const [place = '', query = ''] = path.split('?', 2);
      for (const route of COMPILED) {
        const found = route.method === method ? route.pattern.exec(place) : null;
        if (found === null) continue;
        const parts = found.slice(1).map(decodeURIComponent);
        const asked = { parts, query: new URLSearchParams(query), body, signal };
        return { raw: await route.answer(asked, deps), mayAskAgain: false };
      }
      return { raw: refusedOverSsh(501, NOT_OVER_SSH), mayAskAgain: false };
    },
    close: () => deps.session.close(),
  };
}

const NOT_OVER_SSH = 'Gerrit does not show this over SSH: give the connection an HTTP password';
