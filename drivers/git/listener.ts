/**
 * Notices by itself that refs are different: looks at every project once at the start (what was pushed while nobody
 * watched) and then every `poll_interval`. A webhook makes it faster, never unnecessary: webhooks get lost.
 *
 * A remote that does not answer costs a warning and is asked again at the next interval; the other projects do not wait
 * for it.
 */
import type { DriverLog } from '../../src/driver/connection.ts';
import type { Listener } from '../../src/driver/intake.ts';
import { type ProjectKey, projectIdOf } from '../../src/model/project.ts';
import { watchedRefs } from './next-refs.ts';
import { recall, refsDeliveryId, refsDigest } from './project-memory.ts';
import { refsChanged } from './refs-changed.ts';
import type { ProjectGit } from './remote-git.ts';

/** Ends early, without an error, when the signal aborts. */
export type Wait = (milliseconds: number, signal: AbortSignal) => Promise<void>;

export interface ListenerDeps {
  readonly log: DriverLog;
  readonly openGit: (project: ProjectKey) => Promise<ProjectGit>;
  /** Seconds; 0: only once, at the start. */
  readonly pollInterval: number;
  readonly wait: Wait;
  /** 0 to 1; spreads the polls of many connections. */
  readonly random: () => number;
}

/**
 * What was told last of each project, and how often. News that nobody has looked at a poll later, because the remote was
 * away just then and the event was laid aside, is told again under a new id.
 */
type Told = Map<ProjectKey, { readonly id: string; readonly times: number }>;

type Watch = Parameters<Listener['listen']>[0];

/** Remotes asked at the same time. */
const AT_ONCE = 4;
/** Share of the interval by which a poll may be early or late. */
const JITTER = 0.1;

export function createListener(deps: ListenerDeps): Listener {
  return {
    async listen(watch) {
      const { signal } = watch;
      const told: Told = new Map();
      const ended = new Promise<void>(resolve =>
        signal.addEventListener('abort', () => resolve(), { once: true }),
      );
      while (!signal.aborted) {
        // A remote that does not answer must not hold up the end.
        await Promise.race([lookAtAll(watch, told, deps), ended]);
        await deps.wait(pauseOf(deps), signal);
      }
    },
  };
}

function pauseOf({ pollInterval, random }: ListenerDeps): number {
  if (pollInterval === 0) return Number.POSITIVE_INFINITY;
  return pollInterval * 1000 * (1 - JITTER + 2 * JITTER * random());
}

async function lookAtAll(watch: Watch, told: Told, deps: ListenerDeps): Promise<void> {
  // Shared by the workers: each project is taken once.
  const queue = [...watch.projects()].values();
  const work = async () => {
    for (const project of queue) {
      if (watch.signal.aborted) return;
      await lookAt(project, watch, told, deps);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

async function lookAt(project: ProjectKey, watch: Watch, told: Told, deps: ListenerDeps): Promise<void> {
  try {
    const refs = watchedRefs(await (await deps.openGit(project)).refs());
    if (refs === undefined) throw new Error('it has more branches than can be watched');
    const before = await recall(watch.memory, project);
    const same = before !== undefined && refsDigest(before.refs) === refsDigest(refs);
    const last = told.get(project);
    if (watch.signal.aborted || (same && last !== undefined)) return;
    const id = refsDeliveryId(project, before, refs);
    const times = last?.id === id ? last.times + 1 : 1;
    await watch.emit(refsChanged(projectIdOf(project).name, times === 1 ? id : `${id}-${times}`, true));
    told.set(project, { id, times });
  } catch (error) {
    // The edge of the loop: one project's trouble is not the others'.
    if (watch.signal.aborted) return;
    deps.log.warn(
      { project, error: error instanceof Error ? error.message : String(error) },
      'cannot look at a project; trying again at the next poll',
    );
  }
}
