/** What becomes of a build, as its executor or the scheduler that grants hosts says it to the pipeline: stage 9 of event.ts. */
import type { Nanoseconds } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';
import type { Execution, WorkerEnd } from './build.ts';
import type { BuildTrace } from './build-request.ts';
import type { HostTrouble } from './host-trouble.ts';
import type { MadeNode } from './node-wait.ts';
import type { JobName } from './project.ts';
import type { BuildResult } from './results.ts';
import type { Returned } from './returned.ts';

/** Each names its build, the buildset and item it belongs to, and when it happened by the clock of its sender. */
export type BuildProgressEvent =
  /** It stands in the queue of builds, and no executor may take it before it has hosts. */
  | {
      readonly kind: 'nodes-wanted';
      readonly uuid: Uuid;
      readonly item: Uuid;
      readonly buildset: Uuid;
      readonly build: Uuid;
      readonly at: Nanoseconds;
      /** Of its nodes, in their order. */
      readonly labels: readonly string[];
    }
  | {
      readonly kind: 'nodes-granted';
      readonly uuid: Uuid;
      readonly item: Uuid;
      readonly buildset: Uuid;
      readonly build: Uuid;
      readonly at: Nanoseconds;
      /** In the order of the labels. */
      readonly hosts: readonly string[];
      /** Some are providers: its executor makes nodes before it begins. Absent: none is. */
      readonly making?: true;
    }
  /** Its executor gave its hosts back before it began, because one did not serve: it waits for others. */
  | {
      readonly kind: 'nodes-returned';
      readonly uuid: Uuid;
      readonly item: Uuid;
      readonly buildset: Uuid;
      readonly build: Uuid;
      readonly at: Nanoseconds;
      readonly reason: string;
    }
  | {
      readonly kind: 'build-started';
      readonly uuid: Uuid;
      readonly item: Uuid;
      readonly buildset: Uuid;
      readonly build: Uuid;
      readonly at: Nanoseconds;
      readonly worker: string;
      /** Nodes that were made for it. Absent: none was. */
      readonly nodes?: readonly MadeNode[];
    }
  /** The run phase failed, or is certain to; the job still runs. */
  | {
      readonly kind: 'build-failing';
      readonly uuid: Uuid;
      readonly item: Uuid;
      readonly buildset: Uuid;
      readonly build: Uuid;
      readonly at: Nanoseconds;
      /** Of an early failure: why, for people. Absent: run has ended. */
      readonly early?: string;
    }
  /** Its run is over, and it waits until those that depend on it have ended. */
  | {
      readonly kind: 'build-paused';
      readonly uuid: Uuid;
      readonly item: Uuid;
      readonly buildset: Uuid;
      readonly build: Uuid;
      readonly at: Nanoseconds;
      readonly returned?: Returned;
    }
  | {
      readonly kind: 'build-result';
      readonly uuid: Uuid;
      readonly item: Uuid;
      readonly buildset: Uuid;
      readonly build: Uuid;
      readonly at: Nanoseconds;
      readonly result: BuildResult;
      readonly worker: string | null;
      readonly execution: Execution | null;
      readonly detail?: string;
      /** With RETRY: the executor ended before the build did. */
      readonly workerEnd?: WorkerEnd;
      /** Its executor vanished, and this is its last sign of life, by its own clock. Absent: not known. */
      readonly lastSign?: Nanoseconds;
      /** With RETRY: the code host did not serve what the build needs. */
      readonly trouble?: HostTrouble;
      readonly returned?: Returned;
      /** What the build belongs to, so that its spans can be made after its item has left; absent: no executor sent the event. */
      readonly of?: BuildOrigin;
    };

/** Facts of a build that its request carries. */
interface BuildOrigin {
  readonly job: JobName;
  readonly attempt: number;
  readonly requestedAt: Nanoseconds;
  /** When the scheduler cancelled it, which is when its span ended; absent: the executor had no cancel message. */
  readonly cancelledAt?: Nanoseconds;
  /** From the build request: the trace of the build's spans; null: tracing is off. */
  readonly trace: BuildTrace | null;
}
