/**
 * How far a pod has come, from what the API says of it. Pure.
 *
 *     scheduling ──► starting ──► ready        a machine is looked for; its image is fetched and its container started
 *         │             ├──► image             its image cannot be had; Kubernetes goes on trying
 *         │             └──► failed            it will not start: it was evicted, its configuration is wrong, it has ended
 *         └─ words: why no machine fits
 *
 * The texts are Kubernetes' own words.
 */
import { cutLine } from '../../lib/cut-text.ts';

export interface PodProgress {
  readonly stage: 'scheduling' | 'starting' | 'image' | 'ready' | 'failed';
  /** One line, empty where there is nothing to say. */
  readonly words: string;
  /** The machine of the cluster. Undefined: none yet. */
  readonly machine: string | undefined;
}

/** The part of a pod that is read here; the other side may leave out anything. */
export interface SeenPod {
  readonly metadata?: {
    readonly name?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly labels?: { readonly [name: string]: string };
    readonly deletionTimestamp?: string;
  };
  readonly spec?: { readonly nodeName?: string };
  readonly status?: {
    readonly phase?: string;
    readonly reason?: string;
    readonly message?: string;
    readonly conditions?: readonly {
      readonly type?: string;
      readonly status?: string;
      readonly reason?: string;
      readonly message?: string;
    }[];
    readonly containerStatuses?: readonly {
      readonly ready?: boolean;
      readonly state?: {
        readonly waiting?: { readonly reason?: string; readonly message?: string };
        readonly terminated?: {
          readonly reason?: string;
          readonly message?: string;
          readonly exitCode?: number;
        };
      };
    }[];
  };
}

/** The registry may be back in a moment. */
const IMAGE_TROUBLE = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'RegistryUnavailable',
  'ImageInspectError',
]);
/** No time mends these. */
const NEVER_STARTS = new Set([
  'InvalidImageName',
  'ErrImageNeverPull',
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
]);

export function progressOf(pod: SeenPod): PodProgress {
  const { status = {}, spec = {}, metadata = {} } = pod;
  const machine = spec.nodeName;
  const of = (stage: PodProgress['stage'], ...words: readonly (string | undefined)[]): PodProgress => ({
    stage,
    words: line(words),
    machine,
  });
  const [container] = status.containerStatuses ?? [];
  const { waiting, terminated } = container?.state ?? {};
  if (metadata.deletionTimestamp !== undefined) return of('failed', 'it is being deleted', status.message);
  if (status.phase === 'Failed' || status.phase === 'Succeeded' || terminated !== undefined)
    return of('failed', status.reason ?? terminated?.reason, status.message ?? terminated?.message);
  const condition = (type: string) => status.conditions?.find(each => each.type === type);
  const ready = condition('Ready');
  if (status.phase === 'Running' && ready?.status === 'True') return of('ready');
  if (waiting?.reason !== undefined && NEVER_STARTS.has(waiting.reason))
    return of('failed', waiting.reason, waiting.message);
  if (waiting?.reason !== undefined && IMAGE_TROUBLE.has(waiting.reason))
    return of('image', waiting.reason, waiting.message);
  const scheduled = condition('PodScheduled');
  if (machine === undefined && scheduled?.status !== 'True')
    return of('scheduling', scheduled?.reason, scheduled?.message);
  return of('starting', waiting?.reason, waiting?.message);
}

/** Reasons of a container's end that its machine gives when it has lost sight of it. */
const UNSEEN_ENDS = new Set(['ContainerStatusUnknown', 'Unknown']);

/**
 * Whether the pod's first process ended without a reason outside of the pod: it was not evicted, preempted or deleted. What runs in a pod can
 * bring that about, by ending that process or by taking more memory than the pod may.
 */
export function endedByItself(pod: SeenPod): boolean {
  const { terminated } = pod.status?.containerStatuses?.[0]?.state ?? {};
  return terminated !== undefined && !UNSEEN_ENDS.has(terminated.reason ?? '') && !isTakenAway(pod);
}

/** Whether the cluster takes the pod from its machine, or does not let it have its place there: another one may fare better. */
export function isTakenAway({ metadata = {}, status = {} }: SeenPod): boolean {
  const isDisrupted = status.conditions?.some(
    ({ type, status: is }) => type === 'DisruptionTarget' && is === 'True',
  );
  return metadata.deletionTimestamp !== undefined || status.reason !== undefined || isDisrupted === true;
}

const LONGEST = 400;

function line(words: readonly (string | undefined)[]): string {
  return cutLine(words.filter(word => word !== undefined && word !== '').join(': '), LONGEST);
}
