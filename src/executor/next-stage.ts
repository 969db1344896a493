/**
 * Where the next playbook starts: a stage and control groups, made when the one before it had started.
 *
 *     take ─► a playbook starts there, or, where none was made, in one that is made now
 *     prepare ─► the next is made, beside the playbook
 */
import type { BuildCgroup } from './cgroup/build-cgroups.ts';
import type { ExecutorCgroups } from './cgroup/executor-cgroups.ts';
import type { Sandbox } from './sandbox/sandbox.ts';
import type { PreparedStage, Spawner } from './spawner/spawner.ts';

/** What one playbook takes and removes. */
interface PlaybookStage {
  /** Null: there are no groups here. */
  readonly cgroup: BuildCgroup | null;
  /** Undefined: the process starts from its beginning. */
  readonly stage: PreparedStage | undefined;
}

/** One is ready at most: a shell that sleeps, and an empty group. */
export interface NextStage extends AsyncDisposable {
  /** @throws Error of the file system. */
  take(): Promise<PlaybookStage>;
  /** Never rejects: one that cannot be made now is made when it is taken, which says why it cannot. */
  prepare(): void;
}

export function createNextStage(
  spawner: Pick<Spawner, 'prepare'>,
  sandbox: Pick<Sandbox, 'stage'>,
  cgroups: Pick<ExecutorCgroups, 'make'>,
): NextStage {
  let next: Promise<PlaybookStage | undefined> | undefined;
  let closed = false;

  async function make(): Promise<PlaybookStage> {
    const cgroup = await cgroups.make();
    const stage =
      sandbox.stage === null
        ? undefined
        : spawner.prepare({ ...sandbox.stage, cgroups: cgroup?.groups ?? [] });
    return { cgroup, stage };
  }

  async function takeNext(): Promise<PlaybookStage | undefined> {
    const taken = next;
    next = undefined;
    return await taken;
  }

  return {
    take: async () => (await takeNext()) ?? (await make()),
    prepare() {
      if (!closed && sandbox.stage !== null) next ??= make().catch(() => undefined);
    },
    async [Symbol.asyncDispose]() {
      closed = true;
      const unused = await takeNext();
      unused?.stage?.discard();
      await unused?.cgroup?.remove();
    },
  };
}
