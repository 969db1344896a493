/**
 * Processes a notification that the refs of a project may have changed: derives trigger events.
 *
 *   1 what is remembered of the project          project-memory.ts
 *   2 its refs now (one ls-remote)               remote-git.ts
 *   3 commits of proposals, where needed         read-project.ts, remote-git.ts (one fetch), proposal-states.ts
 *   4 what happened in between                   ref-changes.ts, refusals.ts
 *   5 change records, new memory                 here; `src/driver/answer-event.ts` makes the events
 *
 * Writes nothing, so it can be repeated: the same memory and the same refs give the same result.
 */

import { discardedEvent, processedEvent, triggerEvents } from '../../src/driver/answer-event.ts';
import type { DriverMemory } from '../../src/driver/driver-memory.ts';
import type { HostFinding } from '../../src/driver/host-finding.ts';
import type { NewConnectionEvent } from '../../src/driver/intake.ts';
import { refUpdate, refUpdateRecord } from '../../src/driver/ref-update.ts';
import type { ProcessedEvent } from '../../src/driver/source.ts';
import type { Clock } from '../../src/lib/clock.ts';
import type { ChangeRecord } from '../../src/model/change.ts';
import type { ConnectionEvent } from '../../src/model/event.ts';
import { type ProjectKey, projectIdOf } from '../../src/model/project.ts';
import { readFacts } from './facts.ts';
import { gitLanguages } from './languages.ts';
import {
  encodeMemory,
  type KnownProposal,
  memoryKey,
  type ProjectMemory,
  recall,
  refsDeliveryId,
} from './project-memory.ts';
import { type Reading, readProject } from './read-project.ts';
import { recordGit } from './recorded-git.ts';
import { departureRecord, movedRef, proposalChanges } from './ref-changes.ts';
import { parseChangeId, type Refs, type Templates } from './ref-view.ts';
import { eventProject, refsChanged } from './refs-changed.ts';
import { refusals } from './refusals.ts';
import type { ProjectGit } from './remote-git.ts';

/** Of one connection. */
export interface ProcessDeps {
  readonly clock: Clock;
  readonly templates: Templates;
  readonly openGit: (project: ProjectKey) => Promise<ProjectGit>;
}

/** Of one event; `projects` are those of the connection that some tenant has. */
export interface ProcessContext {
  readonly projects: ReadonlySet<ProjectKey>;
  readonly memory: DriverMemory;
  readonly signal: AbortSignal;
}

/** @throws HostFailed when the remote does not serve; RecordError when a newer version wrote the memory. */
export async function processEvent(
  event: ConnectionEvent,
  context: ProcessContext,
  deps: ProcessDeps,
): Promise<ProcessedEvent> {
  const project = eventProject(event);
  if (project === undefined)
    return discardedEvent(`a git connection has no event ${JSON.stringify(event.type)} of this form`);
  if (!context.projects.has(project)) return discardedEvent(`no tenant has project ${project}`);
  const { git, queries } = recordGit(await deps.openGit(project), project, deps.clock);
  const before = await recall(context.memory, project);
  const reading = await readProject(project, before, git, { ...context, ...deps });
  if (reading === undefined) return { ...discardedEvent('the refs are as they were'), queries: queries() };
  const outcome = outcomeOf(project, reading, before, deps.templates);
  const last =
    reading.old === undefined || before === undefined ? undefined : { memory: before, view: reading.old };
  const refused = refusals(project, reading.states, reading.view, last, deps.templates);
  const unread = reading.refs !== reading.listed;
  const found: HostFinding = {
    ...{ happened: outcome.happened, changes: outcome.changes, memory: [], refusals: refused },
    ...(unread ? { again: again(project, outcome.memory, reading.listed) } : {}),
    ...(refused[0] === undefined ? {} : { discarded: refused[0].text }),
  };
  return processedEvent(triggerEvents(event, gitLanguages.name, outcome.happened), found, {
    memory: [{ key: memoryKey(project), value: encodeMemory(outcome.memory) }],
    queries: queries(),
    ...(before === undefined ? { firstLooks: [project] } : {}),
  });
}

/** A notification that takes in the rest of the listed refs. */
function again(project: ProjectKey, memory: ProjectMemory, listed: Refs): NewConnectionEvent {
  return refsChanged(projectIdOf(project).name, refsDeliveryId(project, memory, listed));
}

interface Outcome {
  readonly happened: HostFinding['happened'];
  readonly changes: readonly ChangeRecord[];
  readonly memory: ProjectMemory;
}

function outcomeOf(
  project: ProjectKey,
  reading: Reading,
  before: ProjectMemory | undefined,
  templates: Templates,
): Outcome {
  const gone = reading.departures.flatMap(
    departure => departureRecord(project, departure, templates, reading.now) ?? [],
  );
  const wasOpen = new Set(
    reading.departures.filter(({ known }) => known.status === 'open').map(({ id }) => id),
  );
  const happened: HostFinding['happened'] = [
    ...reading.moves.map(move => movedRef(project, move)),
    ...gone
      .filter(
        ({ status, change }) => status === 'abandoned' && change.kind === 'change' && wasOpen.has(change.id),
      )
      .map(({ change }) => ({ type: 'abandoned', change, facts: {} })),
    ...proposalChanges(reading.states, before),
  ];
  const different = reading.states.flatMap(state =>
    state.kind === 'read' && before?.proposals.get(state.proposal.id)?.digest !== state.digest
      ? [state.record]
      : [],
  );
  const moved = reading.moves.map(move => refUpdateRecord(refUpdate(project, move), {}, reading.now));
  return {
    happened,
    changes: [...moved, ...gone, ...different],
    memory: {
      sequence: (before?.sequence ?? 0) + 1,
      refs: reading.refs,
      proposals: remembered(reading, before),
    },
  };
}

function remembered(reading: Reading, before: ProjectMemory | undefined): ReadonlyMap<string, KnownProposal> {
  const proposals = new Map<string, KnownProposal>();
  for (const [id, known] of before?.proposals ?? []) {
    const branch = parseChangeId(id)?.branch;
    if (branch !== undefined && !reading.affected.has(branch)) proposals.set(id, known);
  }
  for (const state of reading.states) {
    if (state.kind !== 'read') continue;
    const { change, status, facts } = state.record;
    proposals.set(state.proposal.id, {
      commit: state.proposal.commit,
      status: status === 'merged' ? 'merged' : 'open',
      approved: readFacts(facts).approved,
      subject: change.subject,
      owner: change.owner ?? '',
      digest: state.digest,
    });
  }
  return proposals;
}
