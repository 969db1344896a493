/**
 * Polls the refs of every project: once at the start, for pushes while no process watched, and then every `poll_interval`. A
 * webhook makes it faster, never unnecessary: webhooks get lost. Refs that are those of the last reading cause no event, also at the start:
 * thousands of projects must not each cost a stored event whenever a process begins.
 *
 * A remote that does not answer costs a warning and is polled again at the next interval; other projects do not wait for it.
 */
import type { DriverLog } from '../../src/driver/connection.ts';
import type { Listener } from '../../src/driver/intake.ts';
import { aborted } from '../../src/lib/aborted.ts';
import { type ProjectKey, projectIdOf } from '../../src/model/project.ts';
import { watchedRefs } from './next-refs.ts';
import { recall, refsDeliveryId } from './project-memory.ts';
import type { Refs } from './ref-view.ts';
import { refsChanged } from './refs-changed.ts';
import type { ProjectGit } from './remote-git.ts';

/** Ends early, without an error, when the signal aborts. */
export type Wait = (milliseconds: number, signal: AbortSignal) => Promise<void>;

/** Of one connection; tests replace waiting and randomness. */
export interface ListenerDeps {
  readonly log: DriverLog;
  readonly openGit: (project: ProjectKey) => Promise<ProjectGit>;
  /** Seconds; 0: one poll only, at the start. */
  readonly pollInterval: number;
  readonly wait: Wait;
  /** 0 to 1; spreads the polls of many connections. */
  readonly random: () => number;
}

/**
 * The last notification of each project, and how often it was sent. A notification that is still unprocessed at the next poll
 * (the remote was away, and the event became a dead letter) is sent again under a new id.
 */
type Sent = Map<ProjectKey, { readonly id: string; readonly times: number }>;

type Watch = Parameters<Listener['listen']>[0];

/** Remotes asked at the same time. */
const SIDE_BY_SIDE = 4;
/** Share of the interval by which a poll may be early or late. */
const JITTER = 0.1;

/** `listen` ends with its signal; a poll that still waits for a remote is left to itself. */
export function createListener(deps: ListenerDeps): Listener {
  return {
    async listen(watch) {
      const { signal } = watch;
      const sent: Sent = new Map();
      const ended = aborted(signal);
      while (!signal.aborted) {
        // A remote that does not answer must not delay the end.
        await Promise.race([pollAll(watch, sent, deps), ended]);
        await deps.wait(pauseOf(deps), signal);
      }
    },
  };
}

function pauseOf({ pollInterval, random }: ListenerDeps): number {
  if (pollInterval === 0) return Number.POSITIVE_INFINITY;
  return pollInterval * 1000 * (1 - JITTER + 2 * JITTER * random());
}

async function pollAll(watch: Watch, sent: Sent, deps: ListenerDeps): Promise<void> {
  // Shared by the workers: each project is polled once.
  const queue = [...watch.projects()].values();
  const work = async () => {
    for (const project of queue) {
      if (watch.signal.aborted) return;
      await poll(project, watch, sent, deps);
    }
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, work));
}

async function poll(project: ProjectKey, watch: Watch, sent: Sent, deps: ListenerDeps): Promise<void> {
  try {
    const refs = watchedRefs(await (await deps.openGit(project)).refs());
    if (refs === undefined) throw new Error('it has more branches than can be watched');
    const before = await recall(watch.memory, project);
    const same = before !== undefined && areSame(before.refs, refs);
    if (watch.signal.aborted || same) return;
    const last = sent.get(project);
    const id = refsDeliveryId(project, before, refs);
    const times = last?.id === id ? last.times + 1 : 1;
    await watch.emit(refsChanged(projectIdOf(project).name, times === 1 ? id : `${id}-${times}`, true));
    sent.set(project, { id, times });
  } catch (error) {
    // The edge of the loop: other projects go on.
    if (watch.signal.aborted) return;
    deps.log.warn(
      { project, error: error instanceof Error ? error.message : String(error) },
      'cannot poll a project; trying again at the next interval',
    );
  }
}

function areSame(one: Refs, other: Refs): boolean {
  return one.size === other.size && one.entries().every(([ref, commit]) => other.get(ref) === commit);
}
