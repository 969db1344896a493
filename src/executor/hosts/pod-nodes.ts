/** Nodes that are pods: made for a build on a Kubernetes cluster, reached through a gateway of this executor, deleted with the build. */
import { Writable } from 'node:stream';
import type { Clock } from '../../lib/clock.ts';
import { strangersLine } from '../../lib/cut-text.ts';
import type { Uuid } from '../../lib/ids.ts';
import type { KubernetesPool, PodTemplate } from '../../model/kubernetes-pool.ts';
import { hostPlace } from '../../nodes/host-places.ts';
import { execInPod, podsPath } from '../../nodes/kubernetes/exec-in-pod.ts';
import type { KubeClient, KubeClients } from '../../nodes/kubernetes/kube-client.ts';
import { endedByItself, progressOf, type SeenPod } from '../../nodes/kubernetes/pod-progress.ts';
import { podName } from '../../nodes/kubernetes/pod-spec.ts';
import { deletePod, type StartDeps, type StartedPod, startPod } from '../../nodes/kubernetes/start-pod.ts';
import type { HostFailure, NodeProvider, Opened, ReachedHost, WantedNode } from './node-provider.ts';
import { type GatewayKey, inPod, makeGatewayKey, openPodGateway } from './pod-gateway.ts';

export interface PodNodesDeps extends StartDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly installation: Uuid;
  readonly clients: KubeClients;
}

export function podNodes(deps: PodNodesDeps): NodeProvider<KubernetesPool> {
  let key: GatewayKey | undefined;
  return {
    async open(pool, wanted, signal) {
      const pod = pool.pods[wanted.label];
      if (pod === undefined) return failed(pool, `it has no label ${wanted.label} any more`);
      const opened = await deps.clients.open(pool);
      if (opened.kind === 'trouble') return failed(pool, opened.reason);
      const { client } = opened;
      const owner = { ...wanted.owner, installation: deps.installation };
      const started = await startPod(deps, client, pool, owner, { label: wanted.label, pod }, signal);
      const unready =
        started.kind === 'ready' ? await firstCommand(client, started.name, owner.build, signal) : undefined;
      if (started.kind === 'ready' && unready === undefined) {
        key ??= makeGatewayKey();
        return { kind: 'reached', host: reached(client, pool, { pod, wanted, started, key }) };
      }
      // Where the API server is not reached, a sweep deletes it.
      await deletePod(client, podName(owner));
      return unopened(pool, started.kind === 'ready' ? { kind: 'trouble', reason: unready ?? '' } : started);
    },
    async examine(pool, _, signal) {
      const opened = await deps.clients.open(pool);
      if (opened.kind === 'trouble') return opened.reason;
      const { client } = opened;
      const answer = await client.call('GET', podsPath(client), { query: { limit: 1 }, signal });
      if (answer.kind === 'done') return undefined;
      return answer.kind === 'trouble'
        ? answer.reason
        : `the API server answered ${answer.status}: ${answer.message}`;
    },
  };
}

function failed(pool: KubernetesPool, reason: string): Opened {
  return { kind: 'failed', failure: { host: pool.name, reason, leftover: false } };
}

function unopened(pool: KubernetesPool, started: Exclude<StartedPod, { kind: 'ready' }>): Opened {
  switch (started.kind) {
    case 'refused':
      return { kind: 'refused', reason: `${pool.name}: ${started.reason}` };
    case 'gone':
      return {
        kind: 'failed',
        failure: { host: pool.name, reason: started.reason, leftover: false, serves: true },
      };
    case 'trouble':
      return failed(pool, started.reason);
  }
}

/** Makes the build's directory, and so shows that commands can be run there. Undefined: they can; else why not. */
async function firstCommand(
  client: KubeClient,
  pod: string,
  build: Uuid,
  signal: AbortSignal,
): Promise<string | undefined> {
  let said = '';
  const output = new Writable({
    write(part, _, done) {
      said = `${said}${part}`.slice(-MOST_SAID);
      done();
    },
  });
  const command = inPod(build, `umask 077 && mkdir -p ${hostPlace(build)}`);
  const within = AbortSignal.any([signal, AbortSignal.timeout(FIRST_COMMAND_MS)]);
  const end = await execInPod(client, pod, command, { output, errors: output, signal: within });
  if (end.kind === 'broken') return `no command can be run in its pods: ${end.reason}`;
  if (end.status === 0) return undefined;
  return `the first command in a pod ended with ${end.status}: ${strangersLine(said, MOST_SAID)}`;
}

const MOST_SAID = 300;
const FIRST_COMMAND_MS = 60_000;

interface ReadyPod {
  readonly pod: PodTemplate;
  readonly wanted: WantedNode;
  readonly started: Extract<StartedPod, { kind: 'ready' }>;
  readonly key: GatewayKey;
}

function reached(
  client: KubeClient,
  pool: KubernetesPool,
  { pod, wanted, started: { name, times }, key }: ReadyPod,
): ReachedHost {
  const { build, node } = wanted.owner;
  const gateway = openPodGateway(client, { pod: name, build }, key);
  const lost = (reason: string, serves: { serves?: true } = { serves: true }): HostFailure => ({
    ...{ host: pool.name, reason: `pod ${name}: ${reason}`, leftover: false, ...serves },
  });

  async function look(): Promise<HostFailure | undefined> {
    const found = await client.call('GET', `${podsPath(client)}/${name}`);
    if (found.kind === 'trouble') return lost(found.reason, {});
    if (found.kind === 'refused') return lost(found.status === 404 ? 'it is gone' : found.message);
    const pod = Object(found.body) as SeenPod;
    const { stage, words } = progressOf(pod);
    if (stage === 'failed')
      return {
        ...lost(`it has ended: ${words}`),
        ...(endedByItself(pod) ? { byBuild: true } : {}),
      };
    const broken = gateway.broken();
    return broken === undefined ? undefined : lost(broken);
  }

  return {
    ...{ node, source: pool.name, title: `pod ${name} of ${pool.name}, on ${times.machine}`, times },
    host: {
      // No host of the file can be called so.
      name: `${pool.name}+${wanted.index}`,
      ...{ address: name, port: 22, username: 'root', hostKeys: [key.publicKey] },
      ...(pod.pythonPath === undefined ? {} : { pythonPath: pod.pythonPath }),
      ...(pod.variables === undefined ? {} : { variables: pod.variables }),
    },
    walls: { ansible_ssh_transfer_method: 'piped' },
    join: socket => gateway.join(socket),
    lost: look,
    async leave() {
      const before = await look();
      const problem = await deletePod(client, name);
      // A sweep deletes it later; the build has ended as it has.
      if (problem !== undefined && before === undefined) return lost(problem, {});
      return before;
    },
  };
}
