/**
 * A push: the branch or tag is read, and compared with where it was at the last reading. Several pushes that are read at once are
 * one move. Our own push is not read: git's answer said where the branch was and where it is (doc/decisions/0075).
 */

import { nothingFound } from '../../../src/driver/host-finding.ts';
import { refUpdateRecord } from '../../../src/driver/ref-update.ts';
import type { Nanoseconds } from '../../../src/lib/clock.ts';
import type { ProjectKey } from '../../../src/model/project.ts';
import type { RefAbout } from '../intake/notification.ts';
import type { EventProcessing, GithubFinding, GithubFound } from './processing.ts';
import {
  githubRefUpdate,
  REF_UPDATE_FACTS,
  type RefTip,
  readGithubTip,
  readMarkedCommit,
  type TipRead,
} from './read-ref.ts';
import { openRefTips } from './ref-tips.ts';
import type { Unread } from './unread.ts';

/** @throws RecordError `newer` when an upgraded process wrote the memory. */
export async function processRef(about: RefAbout, processing: EventProcessing): Promise<GithubFound> {
  const { event, notification, memory, project, call, deps } = processing;
  const tips = openRefTips(memory, notification.repository);
  const known = await tips.get(about.ref);
  const own = await ownPush(about, known?.object, processing);
  const read = own ?? (await readGithubTip(about.ref, call, deps));
  if (read.kind === 'later') return { later: read.later };
  if (read.kind === 'gone') return nothingFound(read.text);
  const { tip } = read;
  const object = tip?.object ?? null;
  // GitHub still shows where the ref was before the push.
  if (object !== about.after && object === about.before) {
    const later = deps.staleReads.again(event.uuid, about.ref);
    if (later !== undefined) return { later };
  }
  const before = known === undefined ? about.before : known.object;
  if (before === object) return nothingFound('the ref is as it was');
  const former = known === undefined ? await formerCommit(about.ref, before, processing) : known.commit;
  if (former !== null && typeof former !== 'string')
    return former.kind === 'later' ? { later: former.later } : nothingFound(former.text);
  await tips.set(about.ref, tip ?? { object: null, commit: null });
  return refFinding(project, about.ref, former, tip, notification.actor, tips.changes(), deps.clock.now());
}

/** Of a ref that was not read before. Asks GitHub only about a tag: it may be an annotated one. */
async function formerCommit(
  ref: string,
  before: string | null,
  { call, deps }: EventProcessing,
): Promise<string | null | Unread> {
  if (before === null || !ref.startsWith('refs/tags/')) return before;
  const read = await readMarkedCommit(before, call, deps);
  return read.kind === 'read' ? read.commit : read;
}

/** The tip that our own push made, if the event reports one and nothing newer is remembered of the ref. */
async function ownPush(
  { ref }: RefAbout,
  known: string | null | undefined,
  { event, notification: { repository }, call, deps }: EventProcessing,
): Promise<Extract<TipRead, { readonly kind: 'read' }> | undefined> {
  const push = await deps.own?.take({ repository, ref }, event.uuid, known, call.signal);
  if (push === undefined) return undefined;
  return { kind: 'read', tip: { object: push.after, commit: push.after, tree: push.tree } };
}

function refFinding(
  project: ProjectKey,
  ref: string,
  before: string | null,
  tip: RefTip,
  login: string,
  memory: GithubFinding['memory'],
  now: Nanoseconds,
): GithubFinding {
  const isBranch = ref.startsWith('refs/heads/');
  const change = githubRefUpdate(project, ref, before, tip?.commit ?? null);
  const branch = change.branch ?? '';
  return {
    happened: [
      {
        type: 'push',
        change,
        facts: { action: 'push', actor: { login, permission: null } },
        ...(isBranch && tip?.tree !== undefined ? { tree: tip.tree } : {}),
        configMayHaveChanged: isBranch && tip !== null ? [branch] : [],
        branchesChanged: isBranch && (before === null || tip === null),
      },
    ],
    changes: [refUpdateRecord(change, REF_UPDATE_FACTS, now)],
    memory,
  };
}
