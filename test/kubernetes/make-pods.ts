/** Pods as an executor makes them, for tests of the parts. */
import { Writable } from 'node:stream';
import { systemClock } from '../../src/lib/clock.ts';
import { randomIds } from '../../src/lib/ids.ts';
import type { PodTemplate } from '../../src/model/kubernetes-pool.ts';
import type { KubeClient } from '../../src/nodes/kubernetes/kube-client.ts';
import type { PodOwner } from '../../src/nodes/kubernetes/pod-spec.ts';
import { type StartedPod, startPod } from '../../src/nodes/kubernetes/start-pod.ts';
import { INSTALLATION } from '../fake/kubernetes/sweeper.ts';

const ids = randomIds();
const clock = systemClock();

export function podOwner(): PodOwner {
  const build = ids.uuid();
  return {
    ...{ installation: INSTALLATION, tenant: 'acme', job: 'unit', build },
    ...{ grantedAt: clock.now(), node: 'builder' },
  };
}

interface PodOptions {
  readonly owner?: PodOwner;
  /** Milliseconds. */
  readonly startTimeout?: number;
}

/** As an executor does it, with less patience for images. */
export function makePod(
  client: KubeClient,
  pod: Omit<PodTemplate, 'pullPolicy'>,
  { owner = podOwner(), startTimeout = 90_000 }: PodOptions = {},
): Promise<StartedPod> {
  const { signal } = new AbortController();
  const wanted = { label: 'tests', pod: { ...pod, pullPolicy: 'IfNotPresent' } as const };
  return startPod({ clock, imagePatience: 1_000 }, client, { startTimeout }, owner, wanted, signal);
}

/** Keeps what is written to it. */
export function sink(): Writable & { said(): string } {
  const parts: Buffer[] = [];
  const writable = new Writable({
    write(part, _, done) {
      parts.push(part);
      done();
    },
  });
  return Object.assign(writable, { said: () => Buffer.concat(parts).toString('utf8') });
}
