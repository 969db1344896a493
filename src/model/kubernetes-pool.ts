/**
 * Pods that `nodes.yaml` lets builds have: a namespace of a Kubernetes cluster, how much of it they may use, and what a pod of each label
 * is. A pod is made for one node of one build, and deleted with it.
 */
import type { Variables } from './job.ts';

/** A provider of `nodes.yaml`. Stored as the record `kubernetes-pool`, for executors and webs. */
export interface KubernetesPool {
  /** Unique among hosts and providers, and part of paths. */
  readonly name: string;
  /** Only executors of this zone reach it. Absent: executors without one, and those that serve both. */
  readonly zone?: string;
  /** File on each executor. Absent: the service account of the pod in which the executor runs. */
  readonly kubeconfig?: string;
  /** In the kubeconfig. Absent: its current one. */
  readonly context?: string;
  /** Absent: that of the context. */
  readonly namespace?: string;
  /** Pods at a time, those that are held among them. */
  readonly maxParallelJobs: number;
  /** Thousandths of a core, of all pods together. Absent: not limited here. */
  readonly maxCpu?: number;
  /** Mebibytes, of all pods together. Absent: not limited here. */
  readonly maxMemory?: number;
  /** Milliseconds from the creation of a pod until it must be ready. */
  readonly startTimeout: number;
  /** The names of {@link pods}. */
  readonly labels: readonly string[];
  readonly pods: { readonly [label: string]: PodTemplate };
}

/** When an image is fetched, in Kubernetes' words. */
export type PullPolicy = 'Always' | 'IfNotPresent' | 'Never';

/** What a pod of a label is. */
export interface PodTemplate {
  readonly image: string;
  readonly pullPolicy: PullPolicy;
  /** Thousandths of a core, requested and limit. Absent: the namespace's default. */
  readonly cpu?: number;
  /** Mebibytes, requested and limit. Absent: the namespace's default. */
  readonly memory?: number;
  /** Secrets of the namespace with credentials of registries. Absent: none. */
  readonly pullSecrets?: readonly string[];
  /** Labels that a machine of the cluster must have. Absent: any machine. */
  readonly nodeSelector?: { readonly [label: string]: string };
  /** May do all that the machine of the cluster can. Absent: not. */
  readonly privileged?: true;
  /** Python for Ansible; absent: Ansible looks for it. */
  readonly pythonPath?: string;
  /** More variables of the connection, for its inventory. Absent: none. */
  readonly variables?: Variables;
}

/** A node that a build of the pool gets needs this much of it. */
export function sizeOf(
  { pods }: Pick<KubernetesPool, 'pods'>,
  label: string,
): { readonly cpu: number; readonly memory: number } {
  const { cpu = 0, memory = 0 } = pods[label] ?? {};
  return { cpu, memory };
}
