/**
 * Branches of the watched projects as the listener saw them last, for moves that no event announced: a push during a gap, or where there
 * is no stream. Bounded for each pass; the projects take turns, and a few are asked about at a time.
 */
import { isMapping } from '../../../src/driver/read-mapping.ts';
import { inParallel } from '../../../src/lib/parallel.ts';
import type { Json } from '../../../src/model/job.ts';
import type { GerritApi, GerritCall } from '../api/port.ts';
import type { GerritNotification } from '../intake/notification.ts';

/** What reading the branches of a project found. */
export interface BranchLook {
  /** Never looked at by this process: it is to be read as a whole. */
  readonly isFirst: boolean;
  readonly moves: readonly {
    readonly ref: string;
    readonly before: string | null;
    readonly after: string | null;
  }[];
}

/** In the memory of one listener. */
export interface BranchLooks {
  /**
   * Compares the branches of the projects that are next in turn.
   *
   * @param most of them.
   * @param store what was found; a project whose findings could not be stored shows them again the next time.
   * @returns false: of one at least Gerrit did not answer, or has more branches than are compared.
   * @throws the first error of `store`; the reason of an aborted signal.
   */
  compare(
    projects: readonly string[],
    most: number,
    call: Omit<GerritCall, 'project'>,
    store: (project: string, look: BranchLook) => Promise<void>,
  ): Promise<boolean>;
  /** An event announced the move. */
  moved(notification: GerritNotification): void;
}

const MOST_BRANCHES = 5_000;
/** Projects asked about at a time: after a gap it is all of them. */
const AT_ONCE = 8;

export function createBranchLooks(api: GerritApi): BranchLooks {
  const known = new Map<string, Map<string, string>>();
  let turn = 0;

  function nextInTurn(projects: readonly string[], most: number): readonly string[] {
    if (projects.length <= most) return projects;
    const chosen = Array.from({ length: most }, (_, index) => projects[(turn + index) % projects.length]);
    turn = (turn + most) % projects.length;
    return chosen.filter(each => each !== undefined);
  }

  async function branchesNow(project: string, call: Omit<GerritCall, 'project'>) {
    const path = `projects/${encodeURIComponent(project)}/branches/`;
    const answer = await api.ask(
      { operation: 'projects/branches', method: 'GET', path },
      { ...call, project },
    );
    return answer.kind === 'ok' ? branchesOf(answer.data) : undefined;
  }

  return {
    async compare(projects, most, call, store) {
      const answered = await inParallel(nextInTurn(projects, most), AT_ONCE, async project => {
        call.signal.throwIfAborted();
        const now = await branchesNow(project, call);
        if (now === undefined) return false;
        const before = known.get(project);
        await store(project, {
          isFirst: before === undefined,
          moves: before === undefined ? [] : movesOf(before, now),
        });
        known.set(project, now);
        return true;
      });
      return !answered.includes(false);
    },
    moved({ project, about }) {
      if (about.kind !== 'ref') return;
      if (about.after === null) known.get(project)?.delete(about.ref);
      else if (about.ref.startsWith('refs/heads/')) known.get(project)?.set(about.ref, about.after);
    },
  };
}

function branchesOf(json: Json): Map<string, string> | undefined {
  if (!Array.isArray(json) || json.length > MOST_BRANCHES) return undefined;
  const branches = new Map<string, string>();
  for (const each of json) {
    const { ref, revision } = isMapping(each) ? each : {};
    if (typeof ref === 'string' && typeof revision === 'string' && ref.startsWith('refs/heads/'))
      branches.set(ref, revision);
  }
  return branches;
}

function movesOf(before: ReadonlyMap<string, string>, now: ReadonlyMap<string, string>): BranchLook['moves'] {
  const refs = new Set([...before.keys(), ...now.keys()]);
  return [...refs]
    .map(ref => ({ ref, before: before.get(ref) ?? null, after: now.get(ref) ?? null }))
    .filter(move => move.before !== move.after);
}
