/**
 * The Gerrit driver against the fake Gerrit (test/gerrit/fake), which shares this machine's cores with the service; where the environment
 * names a real one (test/gerrit/real/find-gerrit.ts), against that alone.
 *
 *   gerrit-stream.ts   from a line of the stream to the durable event; a flood of lines of foreign projects
 *   gerrit-gate.ts     from a patch set to the first job step; requests of a change; a gate of 20 with each submit type
 *   gerrit-real.ts     a real Gerrit: patch set → first job step, gates of 1, 5, 10 and 20, a gate of 10 whose head fails
 */
import { benchGerritGates, benchPatchsetLatency } from './gerrit-gate.ts';
import { benchRealGerrit } from './gerrit-real.ts';
import { benchForeignEvents, benchGerritIntake } from './gerrit-stream.ts';
import type { Row } from './main.ts';

export async function* benchGerrit(): AsyncGenerator<Row> {
  const { GERRIT_WAR, GERRIT_URL } = process.env;
  if (GERRIT_WAR || GERRIT_URL) {
    yield* benchRealGerrit();
    return;
  }
  yield* await benchGerritIntake();
  yield* await benchForeignEvents();
  yield* benchPatchsetLatency();
  yield* benchGerritGates();
}
