/** Reads the fake host: compares what it shows of a project with the driver's memory; differences become events. */

import { mergeMessage } from '../../../drivers/git/merge-message.ts';
import type { NewConnectionEvent } from '../../../src/driver/intake.ts';
import { isMapping } from '../../../src/driver/read-mapping.ts';
import type { ProcessedEvent, ProcessedLater, Source } from '../../../src/driver/source.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import { type ChangeKey, changeKey } from '../../../src/model/change.ts';
import type { ConnectionEvent } from '../../../src/model/event.ts';
import { type ProjectKey, parseCommitId, projectIdOf, projectKey } from '../../../src/model/project.ts';
import { differencesOf, encodeMemory, groupTarget, NO_RULES, readMemory } from './differences.ts';
import type { Delivery } from './faults.ts';
import type { ContractHost } from './host.ts';
import { BEHIND, type MonotonicReads } from './monotonic-reads.ts';
import { recordSteps } from './recorded-steps.ts';
import { changeNamed, recordOf } from './records.ts';
import { laterOf, Unserved } from './trouble.ts';

const PROJECT_CHANGED = 'project-changed';

export function projectChanged({ id, project, sequence }: Delivery): NewConnectionEvent {
  return { type: PROJECT_CHANGED, deliveryId: `delivery-${id}`, payload: { project, sequence } };
}

function projectOf({
  payload,
  connection,
}: Pick<ConnectionEvent, 'payload' | 'connection'>): ProjectKey | undefined {
  const name = isMapping(payload) ? payload.project : undefined;
  return typeof name === 'string' ? projectKey({ connection, name }) : undefined;
}

export interface SourceDeps {
  readonly host: Pick<ContractHost, 'ofTopic' | 'landsTopics' | 'calls'>;
  readonly connection: string;
  readonly clock: Clock;
  readonly reads: MonotonicReads;
}

const NOTHING: ProcessedEvent = { events: [], changes: [], updated: [], memory: [], refusals: [] };

export function createSource(deps: SourceDeps): Source {
  const { connection, clock, reads, host } = deps;
  return {
    async process(event, { projects, memory }): Promise<ProcessedEvent | ProcessedLater> {
      const project = projectOf(event);
      if (project === undefined || !projects.has(project))
        return { ...NOTHING, discarded: 'no tenant has the project' };
      const promised = isMapping(event.payload) ? event.payload.sequence : undefined;
      if (typeof promised === 'number') reads.saw(project, promised);
      const { ask, taken } = recordSteps(clock);
      try {
        const snapshot = await ask('read', project, () => reads.read(project));
        if (snapshot === undefined) return { later: BEHIND, ...taken() };
        const key = projectIdOf(project).name;
        const before = readMemory(await memory.get(key));
        const now = clock.now();
        const changed = differencesOf({
          ...{ event, project, before, snapshot, now, projects },
          landsTopics: host.landsTopics,
        });
        return {
          ...NOTHING,
          ...changed,
          queries: taken().steps,
          memory: [{ key, value: encodeMemory(snapshot) }],
          ...(before === undefined ? { firstLooks: [project] } : {}),
          ...([changed.events, changed.updated, changed.dequeues, changed.promotes].every(
            ({ length }) => length === 0,
          )
            ? { discarded: 'nothing is different' }
            : {}),
        };
      } catch (error) {
        const later = laterOf(error);
        if (later === undefined) throw error;
        return { later, ...taken() };
      }
    },
    lane: event => projectOf(event) ?? '',
    coalesceKey: event => projectOf(event),
    async fetchChange(key: ChangeKey) {
      const at = key.indexOf('#');
      const project = key.slice(0, at) as ProjectKey;
      if (at < 0 || !key.startsWith(`${connection}/`)) return undefined;
      const snapshot = await present(project, reads);
      const proposal = snapshot.proposals.get(key.slice(at + 1));
      const { landsTopics } = host;
      const beside = { now: clock.now(), projects: undefined, landsTopics };
      return proposal && recordOf(project, proposal, snapshot, beside);
    },
    changeOfUrl: async (value, projects) => changeNamed(value, connection, projects),
    async changesOfTopic(topic, most) {
      const { proposals, isMore } = host.ofTopic(topic, most);
      const changes = proposals.map(({ project: name, id }) =>
        changeKey(projectKey({ connection, name }), id),
      );
      return { changes, isMore };
    },
    async openChanges(project, most) {
      host.calls.push(`open ${projectIdOf(project).name}`);
      const { proposals } = await present(project, reads);
      const open = [...proposals.values()].filter(({ state }) => state === 'open');
      const changes = open.slice(0, most).map(({ id }) => changeKey(project, id));
      return { changes, isMore: open.length > most };
    },
    async branches(project, _signal, { excludeUnprotected = false, excludeLocked = false } = {}) {
      const { branches, rules } = await present(project, reads);
      return [...branches]
        .filter(([branch]) => {
          const { protected: isProtected, locked } = rules.get(branch) ?? NO_RULES;
          const isShown = (isProtected || !excludeUnprotected) && !(locked && excludeLocked);
          return isShown && groupTarget(branch) === undefined;
        })
        .map(([branch, { commit }]) => ({ branch, commit: parseCommitId(commit) }));
    },
    mergeMessage,
  };
}

/** @throws Unserved */
async function present(project: ProjectKey, reads: MonotonicReads) {
  try {
    const snapshot = await reads.read(project);
    if (snapshot !== undefined) return snapshot;
  } catch (error) {
    throw new Unserved(laterOf(error) ?? BEHIND);
  }
  throw new Unserved(BEHIND);
}
