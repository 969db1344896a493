/** What is asked of Kubernetes for one node of a build. Pure. */
import { createHash } from 'node:crypto';
import type { Nanoseconds } from '../../lib/clock.ts';
import type { Uuid } from '../../lib/ids.ts';
import type { PodTemplate } from '../../model/kubernetes-pool.ts';

/** Whose pod it is. */
export interface PodOwner {
  readonly installation: Uuid;
  readonly tenant: string;
  readonly job: string;
  readonly build: Uuid;
  /** When the build got its place: a build that gives its places back may get others. */
  readonly grantedAt: Nanoseconds;
  /** Its name in the nodeset. */
  readonly node: string;
}

export const OWNER_LABELS = {
  installation: 'gatehouse/installation',
  build: 'gatehouse/build',
  granted: 'gatehouse/granted',
} as const;

/** The one container. */
export const CONTAINER = 'node';

/** Does nothing until it is stopped, which it lets happen at once. */
const IDLE = 'trap "exit 0" TERM INT; while :; do sleep 3600 & wait $!; done';

/** The same for the same node of the same grant, so that a creation whose answer was lost is found again. */
export function podName({ build, grantedAt, node }: PodOwner): string {
  const which = createHash('sha256').update(`${grantedAt} ${node}`).digest('hex').slice(0, 8);
  return `gatehouse-${build}-${which}`;
}

/** The body of `POST …/pods`. */
export function podSpec(owner: PodOwner, label: string, pod: PodTemplate): object {
  const resources = resourcesOf(pod);
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: podName(owner),
      labels: {
        'app.kubernetes.io/managed-by': 'gatehouse',
        [OWNER_LABELS.installation]: owner.installation,
        [OWNER_LABELS.build]: owner.build,
        [OWNER_LABELS.granted]: owner.grantedAt,
        ...(isLabelValue(owner.tenant) ? { 'gatehouse/tenant': owner.tenant } : {}),
      },
      annotations: {
        'gatehouse/tenant': owner.tenant,
        'gatehouse/job': owner.job,
        'gatehouse/node': owner.node,
        'gatehouse/label': label,
      },
    },
    spec: {
      restartPolicy: 'Never',
      // A job gets no keys of the cluster.
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      ...(pod.nodeSelector === undefined ? {} : { nodeSelector: pod.nodeSelector }),
      ...(pod.pullSecrets === undefined ? {} : { imagePullSecrets: pod.pullSecrets.map(name => ({ name })) }),
      containers: [
        {
          name: CONTAINER,
          image: pod.image,
          imagePullPolicy: pod.pullPolicy,
          command: ['/bin/sh', '-c', IDLE],
          ...(resources === undefined ? {} : { resources: { requests: resources, limits: resources } }),
          ...(pod.privileged === true ? { securityContext: { privileged: true } } : {}),
        },
      ],
    },
  };
}

function resourcesOf({ cpu, memory }: PodTemplate): { readonly [name: string]: string } | undefined {
  const all = {
    ...(cpu === undefined ? {} : { cpu: `${cpu}m` }),
    ...(memory === undefined ? {} : { memory: `${memory}Mi` }),
  };
  return Object.keys(all).length === 0 ? undefined : all;
}

function isLabelValue(text: string): boolean {
  return /^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/.test(text);
}
