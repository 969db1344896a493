/** What a pass over Gerrit is given, and what the listener keeps from pass to pass. */
import type { DriverLog } from '../../../src/driver/connection.ts';
import type { Watch } from '../../../src/driver/intake.ts';
import type { Clock, Nanoseconds } from '../../../src/lib/clock.ts';
import type { ChangeInfo } from '../api/change-info.ts';
import type { GerritApi, GerritCall } from '../api/port.ts';
import type { ChangeReader } from '../reading/change-reader.ts';
import type { BranchLooks } from './branch-looks.ts';
import type { ListedBy } from './findings.ts';
import type { ListenerMark } from './mark.ts';

/** Of one listener. */
export interface GerritPassDeps {
  readonly api: GerritApi;
  /** Keeps what a listing shows, so that processing need not ask for it again. */
  readonly reader: Pick<ChangeReader, 'listed' | 'submitsTopics'>;
  readonly clock: Clock;
  readonly log: DriverLog;
  /** Whether events were processed that know this state. @throws as the store does. */
  readonly isRemembered: (info: ChangeInfo, memory: Watch['memory']) => Promise<boolean>;
}

/** What one process knows from pass to pass. */
export interface PassState {
  /** Null: nothing has been seen. */
  until: Nanoseconds | null;
  /** {@link projectDigest} of projects that had their first look. */
  readonly covered: Set<string>;
  /** Number → {@link listedStateDigest} of what was stored. */
  readonly seen: Map<number, string>;
  readonly looks: BranchLooks;
  /** A listing had more pages than one pass reads: where the next one goes on, by batch. */
  readonly rests: Map<string, { readonly since: Nanoseconds; readonly before: Nanoseconds }>;
  /** Of all passes since the mark moved: newest update listed, and when the first of them began, in milliseconds. */
  newest: Nanoseconds | null;
  began: number | null;
  /** The mark as stored last. */
  stored: string;
}

/** What a pass is for. */
export interface PassPurpose {
  readonly foundBy: ListedBy;
  /** Projects whose branches are compared: no event announces their moves, or did not for a while. */
  readonly branchLooks: number;
  /** An event has already announced this state. */
  readonly isAnnounced: (info: ChangeInfo) => boolean;
}

/** One pass while it runs. */
export interface Pass {
  readonly state: PassState;
  readonly purpose: PassPurpose;
  readonly watch: Watch;
  readonly deps: GerritPassDeps;
  readonly call: Omit<GerritCall, 'project'>;
  changes: number;
  missed: number;
  isFailing: boolean;
}

/** @param mark of an earlier process; undefined: there is none. */
export function newPassState(mark: ListenerMark | undefined, looks: BranchLooks): PassState {
  return {
    until: mark?.until ?? null,
    covered: new Set(mark?.projects),
    seen: new Map(),
    looks,
    rests: new Map(),
    newest: null,
    began: null,
    stored: '',
  };
}
