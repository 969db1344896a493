/**
 * The chart as the program Helm reads it.
 *
 *     HELM_BIN=/usr/local/bin/helm npm run test:helm
 */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { loadAll } from 'js-yaml';

/** One object of Kubernetes. */
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  // biome-ignore lint/suspicious/noExplicitAny: tests read what a kind has.
  readonly [field: string]: any;
}

export const CHART = path.join(import.meta.dirname, '../../etc/helm/gatehouse');

/** Of lists in objects, by their name. */
export interface NamedEntry {
  readonly name: string;
  readonly containerPort?: number;
}

/** The file `ci/<name>-values.yaml` of the chart, as Helm takes it. */
export const valuesOf = (name: string) => ['--values', path.join(CHART, 'ci', `${name}-values.yaml`)];

const HOW = `npm run test:helm needs Helm 3: HELM_BIN=<path of the program "helm">. Further variables, each for more tests:
  KUBERNETES_OPENAPI   api/openapi-spec/swagger.json of Kubernetes: each object is judged by it, without a network
  KUBECONFORM_BIN      kubeconform, which judges them by the same
  HELM_KUBECONFIG      of a cluster, with the namespaces "default" and "jobs": its API server judges them, in a dry run
Helm comes from https://helm.sh/, or with a Go toolchain: go install helm.sh/helm/v3/cmd/helm@v3.22.0`;

/** Called by Vitest before anything else of a run. @throws Error that says how to get Helm, when it is not named. */
export function setup(): void {
  program();
}

function program(): string {
  const { HELM_BIN: given } = process.env;
  if (given === undefined) throw new Error(HOW);
  return given;
}

/** A Helm built from source takes itself for a very old cluster otherwise. */
const CLUSTER = ['--kube-version', '1.34.0'];

/** @throws Error with what Helm says, when it refuses. */
export async function helm(command: 'lint' | 'template', ...options: readonly string[]): Promise<string> {
  const what = command === 'lint' ? ['lint', '--strict'] : ['template', 'gate'];
  const { stdout } = await promisify(execFile)(program(), [...what, CHART, ...CLUSTER, ...options]);
  return stdout;
}

export async function rendered(...options: readonly string[]): Promise<readonly KubernetesObject[]> {
  return loadAll(await helm('template', ...options)) as KubernetesObject[];
}
