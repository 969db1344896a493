/**
 * The Gerrit driver against the fake Gerrit (test/gerrit/fake), which shares this machine's cores with the service.
 *
 *   gerrit-stream.ts   from a line of the stream to the durable event; a flood of lines of foreign projects
 *   gerrit-gate.ts     from a patch set to the first job step; requests of a change; a gate of 20 with each submit type
 */
import { benchGerritGates, benchPatchsetLatency } from './gerrit-gate.ts';
import { benchForeignEvents, benchGerritIntake } from './gerrit-stream.ts';
import type { Row } from './main.ts';

export async function benchGerrit(): Promise<readonly Row[]> {
  return [
    ...(await benchGerritIntake()),
    ...(await benchForeignEvents()),
    ...(await benchPatchsetLatency()),
    ...(await benchGerritGates()),
  ];
}
