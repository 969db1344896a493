/** The one place where a build leaves its directory: it is removed, or held for a person. */
import type { Log } from '../../lib/log.ts';
import type { KeptWorkspace } from '../../model/hold-request.ts';
import { heldText } from '../hosts/hold-hosts.ts';
import type { FinishedBuild } from '../run-build.ts';
import type { PhasedBuild } from '../run-phases.ts';

/** A build that has no directory of its own any more. */
export interface LeftBuild extends FinishedBuild {
  /** Absent: its workspace is removed. */
  readonly kept?: KeptWorkspace;
}

/** What comes of it is in the log of the build, and the reason of its result. */
export async function leaveWorkspace(
  build: PhasedBuild,
  finished: FinishedBuild,
  log: Pick<Log, 'warn'>,
): Promise<LeftBuild> {
  const { runner, places, hosts = [], options } = build;
  const { hold, ...unheld } = finished;
  if (hold === undefined || hosts.length > 0) {
    await runner.remove(places, log);
    return finished;
  }
  const outcome =
    finished.workspace === undefined || build.halt.signal.aborted
      ? ({ kind: 'not-held', reason: 'the build was ended early' } as const)
      : await runner.holdWorkspace(build, finished.workspace, hold.node);
  if (outcome.kind === 'not-held') {
    await build.log.line(`hold request ${hold.id}: the workspace is not held: ${outcome.reason}`);
    await runner.remove(places, log);
    return unheld;
  }
  const { path, bytes, notes } = outcome;
  const text = heldText(hold, `workspace ${path} of ${options.hostname}`);
  for (const line of [text, ...notes.map(note => `the workspace is held, but: ${note}`)])
    await build.log.line(line);
  return {
    ...finished,
    detail: [finished.detail, text].filter(Boolean).join('; '),
    kept: { executor: options.hostname, path, bytes },
  };
}
