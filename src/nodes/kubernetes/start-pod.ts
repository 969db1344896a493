/**
 * Makes a pod for a node of a build and waits, by a watch, until it is ready.
 *
 *     create ──► watch ──► ready {times}
 *       │          ├─────► refused    it will not start: the cluster has no room for it in time, its image cannot be had, it has ended
 *       │          ├─────► gone       it was deleted: the build may get another
 *       ├──────────┴─────► trouble    the API server is not reached: nothing can be said
 *       └────────────────► refused    the namespace has no room for it in time, or does not want such a pod
 */
import type { Clock, Nanoseconds } from '../../lib/clock.ts';
import { durationText } from '../../lib/duration-text.ts';
import { pause } from '../../lib/pause.ts';
import type { KubernetesPool, PodTemplate } from '../../model/kubernetes-pool.ts';
import { podsPath } from './exec-in-pod.ts';
import type { KubeAnswer, KubeClient, KubeTrouble } from './kube-client.ts';
import { isTakenAway, type PodProgress, progressOf, type SeenPod } from './pod-progress.ts';
import { OWNER_LABELS, type PodOwner, podName, podSpec } from './pod-spec.ts';

/** How long each part took, by this machine's clock. */
export interface PodTimes {
  readonly createdAt: Nanoseconds;
  /** It has a machine of the cluster. */
  readonly scheduledAt: Nanoseconds;
  /** Its image is there, and its container runs. */
  readonly readyAt: Nanoseconds;
  readonly machine: string;
}

export type StartedPod =
  | { readonly kind: 'ready'; readonly name: string; readonly times: PodTimes }
  | { readonly kind: 'refused' | 'gone'; readonly reason: string }
  | KubeTrouble;

export interface StartDeps {
  readonly clock: Pick<Clock, 'now'>;
  /** Milliseconds for which an image that cannot be fetched is tried. Default {@link IMAGE_MS}. */
  readonly imagePatience?: number;
}

const IMAGE_MS = 60_000;
/** Between two attempts at a server in trouble, or a namespace without room; a hint that is soon stale. */
const PAUSES_MS = [500, 1_000, 2_000, 4_000, 8_000];

/** At any end but `ready` the caller deletes the pod. */
export async function startPod(
  deps: StartDeps,
  client: KubeClient,
  { startTimeout }: Pick<KubernetesPool, 'startTimeout'>,
  owner: PodOwner,
  { label, pod }: { readonly label: string; readonly pod: PodTemplate },
  given: AbortSignal,
): Promise<StartedPod> {
  const late = AbortSignal.timeout(startTimeout);
  const signal = AbortSignal.any([late, given]);
  const createdAt = deps.clock.now();
  const created = await create(client, podSpec(owner, label, pod), owner, signal);
  if (created.kind !== 'done') return created;
  const waited = await untilReady(deps, client, podName(owner), signal);
  if (waited.kind === 'late') {
    const after = `it was not ready after ${durationText(startTimeout)}`;
    const { stage, words } = waited.last ?? { stage: 'scheduling', words: '' };
    return { kind: 'refused', reason: [after, STAGES[stage], words].filter(Boolean).join('; ') };
  }
  if (waited.kind !== 'ready') return waited;
  const { scheduledAt, machine } = waited;
  const times = { createdAt, scheduledAt, readyAt: deps.clock.now(), machine };
  return { kind: 'ready', name: podName(owner), times };
}

const STAGES: { readonly [stage in PodProgress['stage']]: string } = {
  scheduling: 'no machine of the cluster has room for it',
  starting: 'its image was being fetched or its container started',
  image: 'its image could not be fetched',
  ready: '',
  failed: '',
};

type Refused = { readonly kind: 'refused'; readonly reason: string };
type Created = Refused | KubeTrouble | { readonly kind: 'done' };

/** A namespace without room may have some soon, when pods that end are gone. */
async function create(
  client: KubeClient,
  body: object,
  owner: PodOwner,
  signal: AbortSignal,
): Promise<Created> {
  for (let tries = 0; ; tries++) {
    const answer = await client.call('POST', podsPath(client), { body });
    if (answer.kind !== 'refused') return answer.kind === 'done' ? { kind: 'done' } : answer;
    if (answer.status === 409 && (await isOurs(client, owner))) return { kind: 'done' };
    const judged = judgeRefusal(answer);
    if (judged.kind !== 'full') return judged;
    await pause(PAUSES_MS[Math.min(tries, PAUSES_MS.length - 1)] ?? 0, signal);
    if (signal.aborted) return { kind: 'refused', reason: judged.reason };
  }
}

/** Made by an attempt of ours whose answer was lost. */
async function isOurs(client: KubeClient, owner: PodOwner): Promise<boolean> {
  const found = await client.call('GET', `${podsPath(client)}/${podName(owner)}`);
  const labels = found.kind === 'done' ? (Object(found.body) as SeenPod).metadata?.labels : undefined;
  return labels?.[OWNER_LABELS.installation] === owner.installation;
}

const FULL = /exceeded quota|status unknown for quota/i;
/** Our rights in it; it is being deleted, or is so new that it has no account for pods yet. */
const ABOUT_NAMESPACE =
  /is forbidden: User |cannot create resource|because it is being terminated|error looking up service account/;

/** `full`: there is no room now. What says more about the provider than about the pod is trouble of the provider. */
export function judgeRefusal({
  status,
  reason: word,
  message,
}: Pick<Extract<KubeAnswer, { kind: 'refused' }>, 'status' | 'reason' | 'message'>):
  | { readonly kind: 'full'; readonly reason: string }
  | Refused
  | KubeTrouble {
  const reason = `the API server answered ${status}: ${message}`;
  // Quotas count by writing to an object that others write to as well, and new ones are not counted yet.
  if (status === 409 && word === 'Conflict') return { kind: 'full', reason };
  if (status === 403 && FULL.test(message)) return { kind: 'full', reason };
  if (status === 403 && ABOUT_NAMESPACE.test(message)) return { kind: 'trouble', reason };
  // The namespace is not there, or its earlier pod of this name is still going.
  if (status === 404 || status === 409) return { kind: 'trouble', reason };
  return { kind: 'refused', reason };
}

type Waited =
  | { readonly kind: 'ready'; readonly scheduledAt: Nanoseconds; readonly machine: string }
  | { readonly kind: 'late'; readonly last: PodProgress | undefined }
  | { readonly kind: 'refused' | 'gone'; readonly reason: string }
  | KubeTrouble;

/** Looks at the pod again and again; the state counts, never the events. */
async function untilReady(
  deps: StartDeps,
  client: KubeClient,
  name: string,
  signal: AbortSignal,
): Promise<Waited> {
  using judge = podJudge(deps);
  const enough = AbortSignal.any([signal, judge.settled]);
  for (let troubles = 0; !enough.aborted; ) {
    const looked = await look(client, name, judge, enough);
    if (enough.aborted) break;
    if (looked.kind === 'refused' && looked.status === 404) return GONE;
    // Ended by the server, at the end of its time or because the version is too old.
    const isUsual = looked.kind === 'done' || (looked.kind === 'refused' && looked.status === 410);
    troubles = isUsual ? 0 : troubles + 1;
    const wait = PAUSES_MS[Math.max(0, troubles - 1)];
    // A server that has just started does not know all rights yet.
    const isFinal = looked.kind === 'refused' && !isUsual && looked.status !== 403;
    if (wait === undefined || isFinal) return troubleOf(looked);
    await pause(wait, enough);
  }
  return judge.verdict() ?? { kind: 'late', last: judge.last() };
}

/** Reads the pod and watches it from there, until the watch ends. */
async function look(
  client: KubeClient,
  name: string,
  judge: PodJudge,
  signal: AbortSignal,
): Promise<KubeAnswer> {
  const found = await client.call('GET', `${podsPath(client)}/${name}`, { signal });
  if (found.kind !== 'done') return found;
  judge.see(Object(found.body) as SeenPod);
  return signal.aborted ? found : await watchFrom(client, Object(found.body), name, judge, signal);
}

const GONE = { kind: 'gone', reason: 'it was deleted before it was ready' } as const;

function watchFrom(
  client: KubeClient,
  { metadata }: SeenPod,
  name: string,
  judge: PodJudge,
  signal: AbortSignal,
): Promise<KubeAnswer> {
  const query = {
    fieldSelector: `metadata.name=${name}`,
    resourceVersion: metadata?.resourceVersion ?? '0',
  };
  return client.watch(podsPath(client), query, signal, ({ type, object }) => {
    if (type === 'DELETED') judge.settle(GONE);
    // A version that is too old ends the watch with an error: the pod is read again.
    else if (type === 'ADDED' || type === 'MODIFIED') judge.see(Object(object) as SeenPod);
  });
}

interface PodJudge extends Disposable {
  /** Aborts with the verdict. */
  readonly settled: AbortSignal;
  see(pod: SeenPod): void;
  settle(verdict: Waited): void;
  verdict(): Waited | undefined;
  /** Undefined: it was not seen. */
  last(): PodProgress | undefined;
}

/** Watches one pod come up; an image that cannot be fetched is given some time. */
function podJudge({ clock, imagePatience = IMAGE_MS }: StartDeps): PodJudge {
  const settled = new AbortController();
  let last: PodProgress | undefined;
  let scheduledAt: Nanoseconds | undefined;
  let verdict: Waited | undefined;
  let image: NodeJS.Timeout | undefined;
  const settle = (waited: Waited) => {
    verdict ??= waited;
    settled.abort();
  };
  return {
    settled: settled.signal,
    settle,
    see(pod) {
      last = progressOf(pod);
      const { stage, words, machine = '' } = last;
      if (last.machine !== undefined) scheduledAt ??= clock.now();
      if (stage === 'ready') settle({ kind: 'ready', scheduledAt: scheduledAt ?? clock.now(), machine });
      if (pod.metadata?.deletionTimestamp !== undefined) settle(GONE);
      if (stage === 'failed' && isTakenAway(pod))
        settle({ kind: 'gone', reason: `it was taken away before it was ready: ${words}` });
      if (stage === 'failed') settle({ kind: 'refused', reason: `it did not start: ${words}` });
      if (stage === 'image') {
        const reason = `its image cannot be fetched: ${words}`;
        image ??= setTimeout(() => settle({ kind: 'refused', reason }), imagePatience);
        return;
      }
      clearTimeout(image);
      image = undefined;
    },
    verdict: () => verdict,
    last: () => last,
    [Symbol.dispose]: () => clearTimeout(image),
  };
}

function troubleOf(answer: KubeAnswer): KubeTrouble {
  if (answer.kind === 'trouble') return answer;
  const text = answer.kind === 'done' ? 'nothing' : `${answer.status}: ${answer.message}`;
  return { kind: 'trouble', reason: `the API server answered ${text}` };
}

/** `gone` is as good as deleted. Undefined: it is; else why not, one line. */
export async function deletePod(client: KubeClient, name: string, uid?: string): Promise<string | undefined> {
  const answer = await client.call('DELETE', `${podsPath(client)}/${name}`, {
    body: {
      ...{ apiVersion: 'v1', kind: 'DeleteOptions' },
      // Nothing in it is worth a wait, and its place in the namespace's quota is free at once.
      gracePeriodSeconds: 0,
      ...(uid === undefined ? {} : { preconditions: { uid } }),
    },
  });
  if (answer.kind === 'done') return undefined;
  if (answer.kind === 'trouble') return answer.reason;
  const { status, message } = answer;
  return status === 404 || (status === 409 && uid !== undefined) ? undefined : `${status}: ${message}`;
}
