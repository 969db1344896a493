/** A Gerrit for tests of the reading side: changes by their histories, answers of the API by their paths, and every request counted. */
import type { ChangeInfo } from '../../../../../drivers/gerrit/api/change-info.ts';
import type { GerritAnswer } from '../../../../../drivers/gerrit/api/port.ts';
import {
  type GerritNotification,
  gerritNotificationJson,
} from '../../../../../drivers/gerrit/intake/notification.ts';
import { createGerritSource } from '../../../../../drivers/gerrit/reading/gerrit-source.ts';
import type { CommitPlace } from '../../../../../drivers/gerrit/reading/patchset-places.ts';
import type { ProcessedEvent, ProcessedLater, Source } from '../../../../../src/driver/source.ts';
import { addMilliseconds, fromMilliseconds, type Nanoseconds } from '../../../../../src/lib/clock.ts';
import { derivedUuid } from '../../../../../src/lib/ids.ts';
import type { ChangeRecord } from '../../../../../src/model/change.ts';
import type { ConnectionEvent } from '../../../../../src/model/event.ts';
import type { Json } from '../../../../../src/model/job.ts';
import { type ProjectKey, projectKey } from '../../../../../src/model/project.ts';
import { BEGIN, type ChangeHistory } from './change-history.ts';

export const APP: ProjectKey = projectKey({ connection: 'gerrit', name: 'acme/app' });
export const LIB: ProjectKey = projectKey({ connection: 'gerrit', name: 'acme/lib' });

type Failure = Exclude<GerritAnswer<never>, { readonly kind: 'ok' }>;

export const AWAY: Failure = { kind: 'later', later: { reason: 'limited', text: 'too many requests' } };
const NOT_FOUND: Failure = { kind: 'refused', status: 404, text: 'Not found: it' };

interface World {
  readonly changes: Map<number, Pick<ChangeHistory, 'now'>>;
  /** By path; a path without an answer is not found. */
  readonly answers: Map<string, Json>;
  /** Answers every request, where it is set. */
  failure: Failure | undefined;
  /** Older readings to be shown first, in order. */
  readonly stale: (ChangeInfo | null)[];
  readonly requests: string[];
}

export interface ScriptedGerrit {
  readonly world: World;
  readonly source: Source;
  readonly records: ReadonlyMap<string, ChangeRecord>;
  readonly now: () => Nanoseconds;
  /** Processes, and commits what comes of it. */
  receive(about: GerritNotification['about'], event?: string, project?: string): Promise<ProcessedEvent>;
  /** Only processes. */
  process(event: ConnectionEvent): Promise<ProcessedEvent | ProcessedLater>;
  event(about: GerritNotification['about'], event?: string, project?: string): ConnectionEvent;
}

export function aboutChange(number: number, patchset: number | null = null): GerritNotification['about'] {
  return { kind: 'change', number, patchset };
}

/** Both projects are of a tenant. */
export function scriptedGerrit(baseUrl = 'https://review.example.org'): ScriptedGerrit {
  const world: World = {
    changes: new Map(),
    answers: new Map(),
    failure: undefined,
    stale: [],
    requests: [],
  };
  world.answers.set('projects/acme%2Fapp', {}).set('projects/acme%2Flib', {});
  const memory = new Map<string, Json>();
  const records = new Map<string, ChangeRecord>();
  let ticks = 0;
  let deliveries = 0;
  const now = () => addMilliseconds(fromMilliseconds(BEGIN), ticks);
  const api = {
    async ask({ path }: { readonly path: string }): Promise<GerritAnswer<Json>> {
      world.requests.push(path);
      if (world.failure !== undefined) return world.failure;
      const data = world.answers.get(path);
      return data === undefined ? NOT_FOUND : { kind: 'ok', status: 200, data };
    },
  };
  const source = createGerritSource({
    ...{ api, baseUrl, connection: 'gerrit', canonicalHostname: 'canonical.example.org' },
    clock: { now, monotonic: () => ticks },
    reader: {
      async read({ number }) {
        world.requests.push(`change ${number}`);
        if (world.failure !== undefined) return world.failure;
        const stale = world.stale.shift();
        const info = stale === undefined ? (world.changes.get(number)?.now() ?? null) : stale;
        return { kind: 'ok', status: 200, data: info === null ? null : { info, readAt: now() } };
      },
      submitsTopics: async () => ({ kind: 'ok', status: 200, data: false }),
      async patchsetsOf(commits) {
        world.requests.push(`patch sets ${commits.length}`);
        if (world.failure !== undefined) return world.failure;
        return { kind: 'ok', status: 200, data: placesOf(world, commits) };
      },
    },
  });
  const projects = new Set([APP, LIB]);
  const context = {
    projects,
    memory: { get: async (key: string) => memory.get(key) },
    record: (key: string) => records.get(key),
    signal: new AbortController().signal,
  };
  const scripted: ScriptedGerrit = {
    ...{ world, source, records, now },
    event(about, type = 'comment-added', project = 'acme/app') {
      deliveries += 1;
      const payload = gerritNotificationJson({ event: type, foundBy: 'stream', project, about });
      return {
        ...{ uuid: derivedUuid('delivery', String(deliveries)), connection: 'gerrit', type, payload },
        ...{ deliveryId: `delivery-${deliveries}`, receivedAt: now(), storedAt: now(), sampled: true },
      };
    },
    process: event => source.process(event, context),
    async receive(about, type, project) {
      ticks += 100;
      const event = scripted.event(about, type, project);
      let processed = await scripted.process(event);
      for (
        let tries = 0;
        'later' in processed && processed.later.notBefore !== undefined && tries < 10;
        tries += 1
      )
        processed = await scripted.process(event);
      if ('later' in processed) throw new Error(processed.later.text);
      for (const { key, value } of processed.memory) {
        if (value === undefined) memory.delete(key);
        else memory.set(key, value);
      }
      for (const record of processed.changes) records.set(record.change.key, record);
      return processed;
    },
  };
  return scripted;
}

/** Of the current patch sets of all changes, and of the older ones that a history names alike. */
function placesOf({ changes }: World, commits: readonly string[]): ReadonlyMap<string, CommitPlace> {
  const places = [...changes.values()].map(change => {
    const { revision, number, status, project, branch } = change.now();
    const current = revision.number;
    return [
      revision.commit,
      { number, patchset: current, currentPatchset: current, status, project, branch },
    ] as const;
  });
  return new Map(places.filter(([commit]) => commits.includes(commit)));
}

/** `comment-added acme/app#12 by bob` */
export function eventLines({ events }: Pick<ProcessedEvent, 'events'>): readonly string[] {
  return events.map(({ type, change, facts }) => {
    const by = Object(facts).by?.username ?? null;
    return `${type} ${change.key.replace('gerrit/', '')} by ${by}`;
  });
}
