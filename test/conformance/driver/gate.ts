/** The caller's side of a driver, as small as it can be: queue of events, memory, change cache, and a merger. */
import { expect } from 'vitest';
import type { DriverMemory } from '../../../src/driver/driver-memory.ts';
import type { HostSteps } from '../../../src/driver/host-steps.ts';
import type { NewConnectionEvent } from '../../../src/driver/intake.ts';
import type { Landing, LandingOutcome, LandingRequest } from '../../../src/driver/landing.ts';
import type { Reporter, ReporterOutcome, ReportRequest } from '../../../src/driver/reporter.ts';
import type { ProcessedEvent } from '../../../src/driver/source.ts';
import { parseObjectId } from '../../../src/git/objects/object-id.ts';
import { parseRefName } from '../../../src/git/objects/ref-name.ts';
import { millisecondsBetween, systemClock } from '../../../src/lib/clock.ts';
import { randomIds } from '../../../src/lib/ids.ts';
import type { ChangeKey, ChangeRecord, ProposedChange } from '../../../src/model/change.ts';
import type { ConnectionEvent, TriggerEvent } from '../../../src/model/event.ts';
import type { Json } from '../../../src/model/job.ts';
import type { LandedBranch } from '../../../src/model/landed.ts';
import { parseCommitId, projectIdOf } from '../../../src/model/project.ts';
import type { Report } from '../../../src/model/report.ts';
import { createDependencyResolver } from '../../../src/scheduler/changes/resolve-dependencies.ts';
import { sampleReport } from '../../fake/report.ts';
import type { CodeHost } from './code-host.ts';

export interface Gate {
  /** Processes all deliveries, as the scheduler does. */
  settle(): Promise<Settled>;
  /** Takes these in, as they came. */
  take(deliveries: readonly NewConnectionEvent[]): Promise<readonly TriggerEvent[]>;
  /** The event of a delivery. */
  eventOf(delivered: NewConnectionEvent): ConnectionEvent;
  /** Processes without committing anything. */
  peek(event: ConnectionEvent): Promise<ProcessedEvent>;
  readonly memory: DriverMemory;
  records(): readonly ChangeRecord[];
  record(key: ChangeKey): ChangeRecord;
  proposal(key: ChangeKey): ProposedChange;
  /** What a merger makes of the changes, in order, on the present tip. */
  merge(...keys: readonly ChangeKey[]): Promise<Tested>;
  /** The same after each change: every one is tested on what the one before it was tested as. */
  mergeInOrder(...keys: readonly ChangeKey[]): Promise<readonly Tested[]>;
  report(key: ChangeKey, config: Json, about?: Partial<Report>): Promise<ReporterOutcome>;
  land(key: ChangeKey, config: Json, tested?: Tested, mayAct?: () => boolean): Promise<LandingOutcome>;
  /** All of them, asking again for the rest as the scheduler does. */
  landInOrder(
    keys: readonly ChangeKey[],
    config: Json,
    tested: readonly Tested[],
  ): Promise<readonly LandingOutcome[]>;
  /** What of it has landed so far. */
  landed(key: ChangeKey, config: Json, tested: Tested): Promise<readonly LandedBranch[]>;
}

export type Tested = NonNullable<LandingRequest['tested']>;

interface Settled {
  readonly events: readonly TriggerEvent[];
  readonly updated: readonly ChangeKey[];
  readonly refusals: ProcessedEvent['refusals'];
  readonly discarded: readonly string[];
}

export function createGate(host: CodeHost): Gate {
  const clock = systemClock();
  const ids = randomIds();
  const { signal } = new AbortController();
  const remembered = new Map<string, Json>();
  const cache = new Map<ChangeKey, ChangeRecord>();
  const seen = new Set<string>();
  const dependencies = createDependencyResolver({
    connections: new Map([[host.connection.name, host.connection]]),
    projects: () => new Set(host.projects),
  });
  const memory: DriverMemory = { get: async key => remembered.get(key) };

  function eventOf(delivered: NewConnectionEvent): ConnectionEvent {
    const now = clock.now();
    return {
      ...delivered,
      uuid: ids.uuid(),
      connection: host.connection.name,
      receivedAt: now,
      storedAt: now,
      sampled: true,
    };
  }

  async function read(event: ConnectionEvent): Promise<ProcessedEvent> {
    const projects = new Set(host.projects);
    const outcome = await host.connection.source.process(event, {
      projects,
      memory,
      record: key => cache.get(key),
      signal,
    });
    if ('later' in outcome) throw new Error(`the host does not serve: ${outcome.later.text}`);
    return outcome;
  }

  async function take(delivered: NewConnectionEvent): Promise<readonly ProcessedEvent[]> {
    if (seen.has(delivered.deliveryId)) return [];
    seen.add(delivered.deliveryId);
    const processed = await read(eventOf(delivered));
    // As the store does: what is kept is plain JSON.
    for (const { key, value } of processed.memory) {
      if (value === undefined) remembered.delete(key);
      else remembered.set(key, JSON.parse(JSON.stringify(value)));
    }
    for (const record of processed.changes)
      cache.set(record.change.key, await dependencies.resolve(record, signal));
    return processed.again === undefined ? [processed] : [processed, ...(await take(processed.again))];
  }

  function record(key: ChangeKey): ChangeRecord {
    const found = cache.get(key);
    if (found === undefined)
      throw new Error(`nothing is known of ${key}; known are ${[...cache.keys()].join(', ')}`);
    return found;
  }

  function proposal(key: ChangeKey): ProposedChange {
    const { change } = record(key);
    if (change.kind !== 'change') throw new Error(`${key} is no proposal`);
    return change;
  }

  async function mergeInOrder(...keys: readonly ChangeKey[]): Promise<readonly Tested[]> {
    const changes = keys.map(proposal);
    const [first] = changes;
    if (first === undefined) throw new Error('nothing to merge');
    const { connection, name } = projectIdOf(first.project);
    const repository = await host.repositories.repository(connection, name);
    const remote = await host.connection.remote(first.project, 'read');
    const branch = parseRefName(`refs/heads/${first.branch}`);
    const wants = changes.map(({ ref, commit }) => ({
      ref: parseRefName(ref),
      commit: parseObjectId(commit),
    }));
    const fetched = await repository.fetch(remote, [{ ref: branch }, ...wants]);
    const base = fetched.kind === 'fetched' ? fetched.commits[0] : undefined;
    if (base === undefined) throw new Error(`cannot fetch ${first.branch}: ${JSON.stringify(fetched)}`);
    const steps = changes.map(change => ({
      change: parseObjectId(change.commit),
      message: host.connection.source.mergeMessage(change),
    }));
    const outcome = await repository.chain.merge(base, steps);
    if (outcome.kind !== 'merged') throw new Error(`cannot merge: ${JSON.stringify(outcome)}`);
    let [before, beforeTree] = [parseCommitId(base), (await repository.reader.commit(base)).tree];
    return outcome.links.map(link => {
      const tested = {
        base: parseCommitId(base),
        before,
        beforeTree,
        commit: parseCommitId(link.commit),
        tree: link.tree,
      };
      [before, beforeTree] = [tested.commit, tested.tree];
      return tested;
    });
  }

  return {
    memory,
    record,
    proposal,
    records: () => [...cache.values()],
    eventOf,
    peek: read,
    async take(deliveries) {
      const taken: ProcessedEvent[] = [];
      for (const each of deliveries) taken.push(...(await take(each)));
      return taken.flatMap(({ events }) => events);
    },
    async settle() {
      const all: ProcessedEvent[] = [];
      for (const delivered of await host.deliveries()) {
        all.push(...(await take(delivered)));
      }
      return {
        events: all.flatMap(({ events }) => events),
        updated: all.flatMap(({ updated }) => updated),
        refusals: all.flatMap(processed => processed.refusals),
        discarded: all.flatMap(({ discarded }) => discarded ?? []),
      };
    },
    async merge(...keys) {
      const tested = await mergeInOrder(...keys);
      const [{ before, beforeTree }, last] = [
        tested[0] ?? expect.unreachable('nothing was merged'),
        tested.at(-1) ?? expect.unreachable('nothing was merged'),
      ];
      return { ...last, before, beforeTree };
    },
    mergeInOrder,
    report: (key, config, about = {}) =>
      withCheckedSteps(() => reporter().report(requestOf(key, config, about), signal)),
    land: (key, config, tested, mayAct = () => true) =>
      withCheckedSteps(() => landing().land(landingOf(key, config, tested), signal, mayAct)),
    async landInOrder(keys, config, tested) {
      const { landInOrder } = landing();
      if (landInOrder === undefined) return expect.unreachable('this driver lands one by one');
      const outcomes: LandingOutcome[] = [];
      do {
        const requests = keys
          .map((key, index) => landingOf(key, config, tested[index]))
          .slice(outcomes.length);
        const answer = await landInOrder(requests, signal, () => true);
        expect(answer.length).toBeGreaterThan(0);
        outcomes.push(...answer);
      } while (outcomes.length < keys.length && outcomes.at(-1)?.kind === 'landed');
      return outcomes;
    },
    landed: async (key, config, tested) => landing().landed(landingOf(key, config, tested), signal),
  };

  /** P8: what a driver records are its requests and waits, of the time of the call. */
  async function withCheckedSteps<Answer extends HostSteps>(call: () => Promise<Answer>): Promise<Answer> {
    const startedAt = clock.now();
    const answer = await call();
    for (const step of answer.steps ?? []) {
      expect(['HostQuery', 'HostWait']).toContain(step.kind);
      // Clocks of one process may differ a little.
      expect(millisecondsBetween(startedAt, step.startedAt)).toBeGreaterThan(-1_000);
      expect(BigInt(step.endedAt)).toBeGreaterThanOrEqual(BigInt(step.startedAt));
    }
    return answer;
  }

  function requestOf(key: ChangeKey, config: Json, about: Partial<Report>): ReportRequest {
    const { change } = record(key);
    return { config, change, report: sampleReport({ changes: [change], ...about }) };
  }

  function landingOf(key: ChangeKey, config: Json, tested?: Tested): LandingRequest {
    const { change } = record(key);
    const report = sampleReport({ changes: [change] });
    return { config, change, report, ...(tested === undefined ? {} : { tested }) };
  }

  function landing(): Landing {
    const { landing } = host.connection;
    if (landing === undefined) throw new Error('the connection lands nothing');
    return landing;
  }

  function reporter(): Reporter {
    const { reporter } = host.connection;
    if (reporter === undefined) throw new Error('the connection has no reporter');
    return reporter;
  }
}
