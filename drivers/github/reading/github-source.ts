/**
 * The reading side of a connection: events, single changes, branches, merge messages.
 *
 *     an event        process-event.ts (processing.ts) → process-pull.ts, process-commit.ts, process-ref.ts, process-merge-group.ts,
 *                     process-rules.ts; of people: process-button.ts, comment-command.ts (read-permission.ts)
 *     a reading       read-pull.ts (query/, open-conversations.ts, reviewer-admins.ts), open-pull-numbers.ts, read-ref.ts, ref-tips.ts, github-branches.ts, ruleset-reader.ts → rules.ts; unread.ts: no answer; branches-by-git.ts
 *     what happened   pull-memory.ts → pull-finding.ts → pull-happenings.ts; our own doing: own-merge.ts, own-report.ts
 *     a record        pull-record.ts, pull-facts.ts, pull-merge-message.ts, depends-lines.ts
 */
import { HostAway } from '../../../src/driver/host-away.ts';
import { readChangeKey } from '../../../src/driver/read-change-key.ts';
import type { Source } from '../../../src/driver/source.ts';
import { createStaleReads } from '../../../src/driver/stale-reads.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import type { ChangeRecord } from '../../../src/model/change.ts';
import type { ConnectionEvent } from '../../../src/model/event.ts';
import { type ProjectKey, projectIdOf } from '../../../src/model/project.ts';
import type { GithubApi, GithubCall } from '../api/port.ts';
import { readGithubNotification } from '../intake/notification.ts';
import type { OwnLandings } from '../landing/own-landings.ts';
import { type PullPlaces, pullOfUrl } from './depends-lines.ts';
import { type BranchesByGit, listGithubBranches } from './github-branches.ts';
import { listOpenPulls } from './open-pull-numbers.ts';
import { processGithubEvent } from './process-event.ts';
import type { GithubProcessDeps } from './processing.ts';
import { pullMergeMessage } from './pull-merge-message.ts';
import { createPullReaders } from './read-pull.ts';
import { fetchGithubRef } from './read-ref.ts';
import { createReviewerAdmins, noReviewerAdmins } from './reviewer-admins.ts';
import { createRulesetReader } from './ruleset-reader.ts';

/** Of one connection. */
export interface GithubSourceDeps extends PullPlaces {
  readonly api: GithubApi;
  readonly clock: Clock;
  readonly branchesByGit: BranchesByGit;
  /** Of the connection: ends the requests that several events share. */
  readonly lifetime: AbortSignal;
  /** {@link GithubProcessDeps.installationsChanged} */
  readonly installationsChanged?: () => void;
  /** Reads who of the reviewers administrates the repository. */
  readonly readsAdmins?: boolean;
  /** {@link GithubProcessDeps.named} */
  readonly named?: GithubProcessDeps['named'];
  /** {@link PullReaderDeps.commentsRead} */
  readonly commentsRead?: GithubProcessDeps['commentsRead'];
  /** {@link GithubProcessDeps.own} */
  readonly own?: OwnLandings;
  /** Whether this process asked GitHub to repeat the delivery. */
  readonly wasRepeated?: (deliveryId: string) => boolean;
  /** Called after each event that was processed. @param hasNews it led to trigger events. */
  readonly onProcessed?: (event: ConnectionEvent, hasNews: boolean) => void;
}

/** An event that GitHub does not serve now is postponed (`later`); the other calls throw HostAway. */
export function createGithubSource(deps: GithubSourceDeps): Source {
  const { api, clock } = deps;
  const rulesets = createRulesetReader(api, clock, deps.lifetime);
  const admins = deps.readsAdmins ? createReviewerAdmins(api, clock, deps.lifetime) : noReviewerAdmins;
  const readers = createPullReaders({
    ...{ api, clock, rulesets, admins },
    ...(deps.commentsRead === undefined ? {} : { commentsRead: deps.commentsRead }),
  });
  const processing: GithubProcessDeps = {
    ...{ api, clock, rulesets, admins, ...readers },
    staleReads: createStaleReads(clock, 'GitHub'),
    ...(deps.named === undefined ? {} : { named: deps.named }),
    ...(deps.own === undefined ? {} : { own: deps.own }),
    ...(deps.installationsChanged === undefined ? {} : { installationsChanged: deps.installationsChanged }),
  };
  const callOf = (project: ProjectKey, signal: AbortSignal): GithubCall => ({
    repository: projectIdOf(project).name,
    weight: 'event',
    signal,
  });
  return {
    async process(event, context) {
      const processed = await processGithubEvent(event, context, processing);
      if ('later' in processed) return processed;
      deps.onProcessed?.(event, processed.events.length > 0);
      return deps.wasRepeated?.(event.deliveryId) ? { ...processed, foundBy: 'redelivery' } : processed;
    },
    lane: laneOf,
    coalesceKey: event => coalesceKey(event, deps.own),
    comesInStorms: ({ payload }) => readGithubNotification(payload)?.about.kind === 'commit',
    async fetchChange(key, signal) {
      const named = readChangeKey(key, deps.connection, text => /^[1-9]\d{0,9}$/.test(text));
      if (named === undefined) return undefined;
      const call = callOf(named.project, signal);
      return named.kind === 'change'
        ? await fetchPull(named.project, Number(named.id), call, processing)
        : await fetchGithubRef(named, call, processing);
    },
    changeOfUrl: async (value, projects) => pullOfUrl(value, deps, projects),
    openChanges: (project, most, signal) => listOpenPulls(project, most, callOf(project, signal), api),
    branches: (project, signal, selection = {}) =>
      listGithubBranches(selection, {
        api,
        byGit: deps.branchesByGit,
        project,
        call: callOf(project, signal),
      }),
    mergeMessage: pullMergeMessage,
  };
}

/** A pull request, a commit, or a repository with its refs. */
function laneOf({ payload }: ConnectionEvent): string {
  const notification = readGithubNotification(payload);
  if (notification === undefined) return '';
  const { repository, about } = notification;
  switch (about.kind) {
    case 'pull':
      return `${repository}#${about.number}`;
    case 'commit':
    case 'rerun':
    case 'button':
      return `${repository}@${about.commit}`;
    default:
      return repository;
  }
}

/** What needs the same reading and says nothing of its own. */
function coalesceKey({ uuid, payload }: ConnectionEvent, own: OwnLandings | undefined): string | undefined {
  const notification = readGithubNotification(payload);
  if (notification === undefined) return undefined;
  const { repository, about } = notification;
  switch (about.kind) {
    case 'commit':
      return `commit ${about.commit}`;
    case 'ref':
      // Our own push is not read, so that no other event is answered with it.
      return own?.claim({ repository, ref: about.ref }, uuid, about) === true
        ? undefined
        : `ref ${about.ref}`;
    case 'rules':
      return about.page === undefined ? 'rules' : undefined;
    default:
      return undefined;
  }
}

async function fetchPull(
  project: ProjectKey,
  number: number,
  call: GithubCall,
  { readPull }: GithubProcessDeps,
): Promise<ChangeRecord | undefined> {
  const read = await readPull(project, number, call);
  if (read.kind === 'later') throw new HostAway(read.later);
  return read.kind === 'read' ? read.record : undefined;
}
