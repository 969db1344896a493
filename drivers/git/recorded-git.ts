/**
 * A project's git that records its requests and their times: the `HostQuery` spans of an event.
 *
 *     refs      one listing of branches and tags at the host
 *     fetch     commits or refs fetched; no request to the host when the mirror has all of them
 *     commits   reading fetched commits, all reads of a project together
 */
import type { Clock, Nanoseconds } from '../../src/lib/clock.ts';
import { type ProjectKey, projectIdOf } from '../../src/model/project.ts';
import type { Step } from '../../src/model/step.ts';
import type { ProjectGit } from './remote-git.ts';

/** One event's git and what it was used for. */
export interface RecordedGit {
  readonly git: ProjectGit;
  /** In order of their ends; `commits` last. */
  queries(): readonly Step[];
}

type Query = 'refs' | 'fetch' | 'commits';

/** Most queries recorded for one event: enough to see where the time went, and a bound on its trace. */
const MOST_QUERIES = 50;

/** Requests that fail are not recorded: their event is tried again. */
export function recordGit(git: ProjectGit, project: ProjectKey, clock: Pick<Clock, 'now'>): RecordedGit {
  const steps: Step[] = [];
  const reads = {
    count: 0,
    startedAt: undefined as Nanoseconds | undefined,
    endedAt: undefined as Nanoseconds | undefined,
  };
  const step = (query: Query, startedAt: Nanoseconds, endedAt: Nanoseconds, facts: Step['facts']): Step => ({
    kind: 'HostQuery',
    subject: `${query} ${projectIdOf(project).name}`,
    startedAt,
    endedAt,
    facts: { query, project, connection: projectIdOf(project).connection, ...facts },
  });

  async function asked<T>(
    query: Query,
    ask: () => Promise<T>,
    factsOf: (answer: T) => Step['facts'],
  ): Promise<T> {
    const startedAt = clock.now();
    const answer = await ask();
    if (steps.length < MOST_QUERIES) steps.push(step(query, startedAt, clock.now(), factsOf(answer)));
    return answer;
  }

  async function read<T>(ask: () => Promise<T>): Promise<T> {
    reads.startedAt ??= clock.now();
    const answer = await ask();
    reads.count += 1;
    reads.endedAt = clock.now();
    return answer;
  }

  return {
    git: {
      ...git,
      refs: () =>
        asked(
          'refs',
          () => git.refs(),
          refs => ({ refs: refs.size }),
        ),
      bring: wants =>
        wants.length === 0
          ? git.bring(wants)
          : asked(
              'fetch',
              () => git.bring(wants),
              () => ({ refs: wants.length }),
            ),
      bringRefs: refs =>
        asked(
          'fetch',
          () => git.bringRefs(refs),
          () => ({ refs: refs.length }),
        ),
      text: commit => read(() => git.text(commit)),
      beyond: (tip, heads, limit) => read(() => git.beyond(tip, heads, limit)),
      holds: (state, change) => read(() => git.holds(state, change)),
      isAncestor: (ancestor, descendant) => read(() => git.isAncestor(ancestor, descendant)),
      peel: ids => read(() => git.peel(ids)),
    },
    queries() {
      const { startedAt, endedAt, count } = reads;
      return startedAt === undefined || endedAt === undefined
        ? steps
        : [...steps, step('commits', startedAt, endedAt, { changes: count })];
    },
  };
}
