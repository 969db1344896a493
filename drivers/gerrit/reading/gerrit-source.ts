/**
 * The reading side of a connection: events, single changes, branches, merge messages.
 *
 *     an event        process-event.ts (processing.ts) → process-change.ts, process-gone-change.ts, process-ref.ts, process-project.ts
 *     a reading       change-reader.ts (read-changes.ts, change-readings.ts, shared-call.ts), read-ref.ts, gerrit-branches.ts
 *     what happened   change-memory.ts → change-happenings.ts: comment-happenings.ts (message-header.ts, patchset-comments.ts),
 *                     removal-happenings.ts
 *     a record        read-record.ts → change-record.ts, change-facts.ts, change-merge-message.ts, topics.ts
 *     open changes    open-changes.ts, topics.ts
 *     dependencies    depends-on-footers.ts, change-urls.ts, legacy-change-ids.ts; patchset-places.ts, outdated-children.ts
 *     no answer       gerrit-later.ts
 */
import { HostAway } from '../../../src/driver/host-away.ts';
import { type NamedChange, readChangeKey } from '../../../src/driver/read-change-key.ts';
import { refUpdate, refUpdateRecord } from '../../../src/driver/ref-update.ts';
import type { Source } from '../../../src/driver/source.ts';
import { createStaleReads } from '../../../src/driver/stale-reads.ts';
import { fromMilliseconds } from '../../../src/lib/clock.ts';
import { type ChangeKey, type ChangeRecord, changeKey } from '../../../src/model/change.ts';
import type { ConnectionEvent } from '../../../src/model/event.ts';
import { type ProjectKey, projectIdOf, projectKey } from '../../../src/model/project.ts';
import type { GerritCall } from '../api/port.ts';
import { readGerritNotification } from '../intake/notification.ts';
import { changeMergeMessage } from './change-merge-message.ts';
import { type ChangePlaces, readChangeUrl } from './change-urls.ts';
import { listGerritBranches } from './gerrit-branches.ts';
import { gerritLater, isUnreadable } from './gerrit-later.ts';
import { changeOfId } from './legacy-change-ids.ts';
import { openChangesOfGerrit } from './open-changes.ts';
import { processGerritEvent } from './process-event.ts';
import type { GerritReadingDeps } from './processing.ts';
import { readChangeRecord } from './read-record.ts';
import { REF_FACTS, readGerritTip } from './read-ref.ts';
import { changesOfGerritTopic } from './topics.ts';

/** Of one connection. */
export interface GerritSourceDeps extends GerritReadingDeps, ChangePlaces {
  /** Called after each event that was processed. @param hasNews it led to trigger events. */
  readonly onProcessed?: (event: ConnectionEvent, hasNews: boolean) => void;
}

/** An event that Gerrit does not serve now is postponed (`later`); the other calls throw HostAway. */
export function createGerritSource(deps: GerritSourceDeps): Source {
  const processing = { ...deps, staleReads: createStaleReads(deps.clock, 'Gerrit') };
  // `fetchChange` does not get them; until the first event any project counts.
  let projects: ReadonlySet<ProjectKey> | undefined;
  return {
    async process(event, context) {
      projects = context.projects;
      const processed = await processGerritEvent(event, context, processing);
      if (!('later' in processed)) deps.onProcessed?.(event, processed.events.length > 0);
      return processed;
    },
    lane: laneOf,
    coalesceKey,
    async fetchChange(key, signal) {
      const named = readChangeKey(key, deps.connection, isNumber);
      if (named === undefined) return undefined;
      return named.kind === 'change'
        ? await fetchGerritChange(
            named.project,
            Number(named.id),
            projects,
            callOf(named.project, signal),
            deps,
          )
        : await fetchGerritRef(named, callOf(named.project, signal), deps);
    },
    changeOfUrl: (value, known, signal) => changeOfUrl(value, known, signal, deps),
    async changesOfTopic(topic, most, signal) {
      const found = await changesOfGerritTopic(topic, most, { project: '', signal }, deps);
      if (found.kind !== 'ok') throw new HostAway(gerritLater(found, `topic ${topic}`));
      return found.data;
    },
    async openChanges(project, most, signal) {
      const found = await openChangesOfGerrit(most, callOf(project, signal), deps);
      if (found.kind !== 'ok') throw new HostAway(gerritLater(found, projectIdOf(project).name));
      return found.data;
    },
    async branches(project, signal) {
      const listed = await listGerritBranches(callOf(project, signal), deps.api);
      if (listed.kind !== 'ok') throw new HostAway(gerritLater(listed, projectIdOf(project).name));
      return listed.data;
    },
    mergeMessage: changeMergeMessage,
  };
}

function callOf(project: ProjectKey, signal: AbortSignal): GerritCall {
  return { project: projectIdOf(project).name, signal };
}

/** A change, or a project with its refs. What the listener remembers has a lane of its own. */
function laneOf({ payload }: ConnectionEvent): string {
  const notification = readGerritNotification(payload);
  if (notification === undefined) return '';
  const { project, about } = notification;
  return about.kind === 'change' ? `${project}#${about.number}` : project;
}

/** What needs the same reading. */
function coalesceKey({ payload }: ConnectionEvent): string | undefined {
  const about = readGerritNotification(payload)?.about;
  switch (about?.kind) {
    case 'change':
      if (about.isDeleted === true) return 'deleted';
      // A finding may be answered with what was read before the others came in.
      return about.readAt === undefined && about.isFirstLook === undefined
        ? 'change'
        : `found ${about.readAt} ${about.isFirstLook}`;
    case 'ref':
      return `ref ${about.ref}`;
    case 'project':
      return 'project';
    default:
      return undefined;
  }
}

async function fetchGerritChange(
  project: ProjectKey,
  number: number,
  projects: ReadonlySet<ProjectKey> | undefined,
  call: GerritCall,
  deps: GerritReadingDeps,
): Promise<ChangeRecord | undefined> {
  const what = `change ${number}`;
  const read = await deps.reader.read({ number, notBefore: deps.clock.now(), patchset: null }, call);
  if (isUnreadable(read)) return undefined;
  if (read.kind !== 'ok') throw new HostAway(gerritLater(read, what));
  if (read.data === null || read.data.info.project !== projectIdOf(project).name) return undefined;
  const record = await readChangeRecord({ project, projects, tip: undefined, ...read.data }, call, deps);
  if (record.kind !== 'ok') throw new HostAway(gerritLater(record, what));
  return record.data;
}

/** A ref update can be read as long as the ref is where it went; where it came from is not known any more. */
async function fetchGerritRef(
  { project, ref, commit }: Extract<NamedChange, { readonly kind: 'ref' }>,
  call: GerritCall,
  { api, clock }: GerritReadingDeps,
): Promise<ChangeRecord | undefined> {
  const read = await readGerritTip(ref, call, api);
  if (read.kind !== 'ok') throw new HostAway(gerritLater(read, call.project));
  if ((read.data?.commit ?? null) !== commit) return undefined;
  const change = refUpdate(project, { ref, before: null, after: commit });
  return refUpdateRecord(change, REF_FACTS, clock.now());
}

/** Asks for a bare number and for a Change-Id alone: any other form names the project. */
async function changeOfUrl(
  value: string,
  projects: ReadonlySet<ProjectKey>,
  signal: AbortSignal,
  deps: GerritSourceDeps,
): Promise<ChangeKey | undefined> {
  const named = readChangeUrl(value, deps);
  const call = { project: '', signal };
  switch (named?.kind) {
    case undefined:
      return undefined;
    case 'change':
      return projects.has(named.project) ? named.key : undefined;
    case 'change-id': {
      const found = await changeOfId(named.id, projects, call, deps);
      if (found.kind !== 'ok') throw new HostAway(gerritLater(found, value));
      return found.data;
    }
    case 'number':
      return await changeOfNumber(named.number, projects, call, deps);
  }
}

/** A change never goes to another project, so that any earlier reading will do. */
async function changeOfNumber(
  number: number,
  projects: ReadonlySet<ProjectKey>,
  call: GerritCall,
  { connection, reader }: GerritSourceDeps,
): Promise<ChangeKey | undefined> {
  const notBefore = fromMilliseconds(0);
  const read = await reader.read({ number, notBefore, patchset: null }, call);
  if (isUnreadable(read)) return undefined;
  if (read.kind !== 'ok') throw new HostAway(gerritLater(read, `change ${number}`));
  if (read.data === null) return undefined;
  const project = projectKey({ connection, name: read.data.info.project });
  return projects.has(project) ? changeKey(project, String(number)) : undefined;
}

/** Of a change. */
function isNumber(text: string): boolean {
  return /^[1-9]\d{0,9}$/.test(text);
}
