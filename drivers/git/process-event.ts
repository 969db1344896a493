/**
 * Station 2 for a git connection: the news that some project's refs are different becomes trigger events.
 *
 *   1 what is remembered of the project          project-memory.ts
 *   2 its refs now (one ls-remote)               remote-git.ts
 *   3 commits of proposals, where needed         remote-git.ts (one fetch), proposal-states.ts
 *   4 what happened in between                   ref-news.ts, refusals.ts
 *   5 events, change records, new memory         here, trigger-events.ts
 *
 * Nothing is written, so that all of it can be repeated: the same memory and the same refs give the same answer.
 */

import type { DriverMemory } from '../../src/driver/driver-memory.ts';
import type { NewConnectionEvent } from '../../src/driver/intake.ts';
import type { ProcessedEvent } from '../../src/driver/source.ts';
import type { Clock } from '../../src/lib/clock.ts';
import type { ChangeRecord } from '../../src/model/change.ts';
import type { ConnectionEvent } from '../../src/model/event.ts';
import { type ProjectKey, projectIdOf } from '../../src/model/project.ts';
import { readFacts } from './facts.ts';
import { type Look, lookAt } from './look.ts';
import {
  encodeMemory,
  type KnownProposal,
  memoryKey,
  type ProjectMemory,
  recall,
  refsDeliveryId,
} from './project-memory.ts';
import { recordGit } from './recorded-git.ts';
import { departureRecord, proposalNews, type RefNews } from './ref-news.ts';
import { refUpdateRecord } from './ref-update.ts';
import { parseChangeId, type Refs, type Templates } from './ref-view.ts';
import { eventProject, refsChanged } from './refs-changed.ts';
import { refusals } from './refusals.ts';
import type { ProjectGit } from './remote-git.ts';
import { triggerEventsOf } from './trigger-events.ts';

export interface ProcessDeps {
  readonly clock: Clock;
  readonly templates: Templates;
  readonly openGit: (project: ProjectKey) => Promise<ProjectGit>;
}

export interface ProcessContext {
  readonly projects: ReadonlySet<ProjectKey>;
  readonly memory: DriverMemory;
  readonly signal: AbortSignal;
}

const NOTHING: ProcessedEvent = { events: [], changes: [], updated: [], memory: [], refusals: [] };

export async function processEvent(
  event: ConnectionEvent,
  context: ProcessContext,
  deps: ProcessDeps,
): Promise<ProcessedEvent> {
  const project = eventProject(event);
  if (project === undefined)
    return {
      ...NOTHING,
      discarded: `a git connection has no event ${JSON.stringify(event.type)} of this form`,
    };
  if (!context.projects.has(project)) return { ...NOTHING, discarded: `no tenant has project ${project}` };
  const { git, queries } = recordGit(await deps.openGit(project), project, deps.clock);
  const before = await recall(context.memory, project);
  const look = await lookAt(project, before, git, { ...context, ...deps });
  if (look === undefined) return { ...NOTHING, discarded: 'the refs are as they were', queries: queries() };
  const news = newsOf(project, look, before, deps.templates);
  const last =
    look.old === undefined || before === undefined ? undefined : { memory: before, view: look.old };
  const refused = refusals(project, look.states, look.view, last, deps.templates);
  const unread = look.refs !== look.listed;
  const visible = news.news.length + news.updated.length > 0;
  return {
    events: triggerEventsOf(event, project, news.news),
    changes: news.changes,
    updated: news.updated,
    memory: [{ key: memoryKey(project), value: encodeMemory(news.memory) }],
    refusals: refused,
    queries: queries(),
    ...(before === undefined ? { firstLooks: [project] } : {}),
    ...(unread ? { again: again(project, news.memory, look.listed) } : {}),
    ...(visible ? {} : { discarded: refused[0]?.text ?? 'nothing happened that a pipeline could see' }),
  };
}

/** The rest of what was listed, as news of its own. */
function again(project: ProjectKey, memory: ProjectMemory, listed: Refs): NewConnectionEvent {
  return refsChanged(projectIdOf(project).name, refsDeliveryId(project, memory, listed));
}

interface Outcome {
  readonly news: readonly RefNews[];
  readonly changes: readonly ChangeRecord[];
  readonly updated: ProcessedEvent['updated'];
  readonly memory: ProjectMemory;
}

function newsOf(
  project: ProjectKey,
  look: Look,
  before: ProjectMemory | undefined,
  templates: Templates,
): Outcome {
  const gone = look.departures.flatMap(
    departure => departureRecord(project, departure, templates, look.now) ?? [],
  );
  const wasOpen = new Set(look.departures.filter(({ known }) => known.status === 'open').map(({ id }) => id));
  const news: readonly RefNews[] = [
    ...look.moves.map(move => ({ kind: 'ref-updated' as const, move })),
    ...gone
      .filter(
        ({ status, change }) => status === 'abandoned' && change.kind === 'change' && wasOpen.has(change.id),
      )
      .map(record => ({ kind: 'abandoned' as const, record })),
    ...proposalNews(look.states, before),
  ];
  const different = look.states.flatMap(state =>
    state.kind === 'read' && before?.proposals.get(state.proposal.id)?.digest !== state.digest
      ? [state.record]
      : [],
  );
  const moved = look.moves.map(move => refUpdateRecord(move, project, look.now));
  const changes: ChangeRecord[] = [...moved, ...gone, ...different];
  const announced = new Set([
    ...moved.map(({ change }) => change.key),
    ...news.flatMap(each => (each.kind === 'ref-updated' ? [] : [each.record.change.key])),
  ]);
  return {
    news,
    changes,
    updated: changes.map(({ change }) => change.key).filter(key => !announced.has(key)),
    memory: { sequence: (before?.sequence ?? 0) + 1, refs: look.refs, proposals: remembered(look, before) },
  };
}

function remembered(look: Look, before: ProjectMemory | undefined): ReadonlyMap<string, KnownProposal> {
  const proposals = new Map<string, KnownProposal>();
  for (const [id, known] of before?.proposals ?? []) {
    const branch = parseChangeId(id)?.branch;
    if (branch !== undefined && !look.affected.has(branch)) proposals.set(id, known);
  }
  for (const state of look.states) {
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
