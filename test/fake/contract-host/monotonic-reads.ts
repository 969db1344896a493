/**
 * Reads of a host that may be behind its own writes. Each read has the number of the write it shows; one that shows less than we
 * have seen already, by a read or by the answer to a write of our own, is not believed.
 */
import type { ProcessedLater } from '../../../src/driver/source.ts';
import { type ProjectKey, projectIdOf } from '../../../src/model/project.ts';
import type { ContractHost, Snapshot } from './host.ts';

export const BEHIND: ProcessedLater['later'] = {
  reason: 'other',
  text: 'the host shows what was before its own last write',
};

export interface MonotonicReads {
  /** Undefined: it is behind. @throws HostError */
  read(project: ProjectKey): Promise<Snapshot | undefined>;
  /** A write of ours, or a delivery, has this number. */
  saw(project: ProjectKey, sequence: number): void;
}

export function monotonicReads(host: ContractHost): MonotonicReads {
  const seen = new Map<ProjectKey, number>();
  const saw = (project: ProjectKey, sequence: number) =>
    void seen.set(project, Math.max(sequence, seen.get(project) ?? 0));
  return {
    saw,
    async read(project) {
      const snapshot = await host.read(projectIdOf(project).name);
      if (snapshot.sequence < (seen.get(project) ?? 0)) return undefined;
      saw(project, snapshot.sequence);
      return snapshot;
    },
  };
}
