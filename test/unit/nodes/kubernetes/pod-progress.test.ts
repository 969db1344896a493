import { expect, test } from 'vitest';
import { endedByItself, progressOf, type SeenPod } from '../../../../src/nodes/kubernetes/pod-progress.ts';

const SCHEDULED = { type: 'PodScheduled', status: 'True' };
const waiting = (reason: string, message?: string): SeenPod => ({
  spec: { nodeName: 'm1' },
  status: {
    ...{ phase: 'Pending', conditions: [SCHEDULED] },
    containerStatuses: [{ state: { waiting: { reason, ...(message === undefined ? {} : { message }) } } }],
  },
});

test.each<[SeenPod, string, string]>([
  [{}, 'scheduling', ''],
  [
    {
      status: {
        phase: 'Pending',
        conditions: [
          {
            type: 'PodScheduled',
            status: 'False',
            reason: 'Unschedulable',
            message: '0/3 nodes\nare available',
          },
        ],
      },
    },
    'scheduling',
    'Unschedulable: 0/3 nodes are available',
  ],
  [waiting('ContainerCreating'), 'starting', 'ContainerCreating'],
  [
    waiting('ImagePullBackOff', 'Back-off pulling image'),
    'image',
    'ImagePullBackOff: Back-off pulling image',
  ],
  [waiting('InvalidImageName', 'invalid'), 'failed', 'InvalidImageName: invalid'],
  [
    {
      spec: { nodeName: 'm1' },
      status: { phase: 'Running', conditions: [SCHEDULED, { type: 'Ready', status: 'True' }] },
    },
    'ready',
    '',
  ],
  [{ spec: { nodeName: 'm1' }, status: { phase: 'Running', conditions: [SCHEDULED] } }, 'starting', ''],
  [
    { status: { phase: 'Failed', reason: 'Evicted', message: 'low on memory' } },
    'failed',
    'Evicted: low on memory',
  ],
  [
    { status: { phase: 'Running', containerStatuses: [{ state: { terminated: { reason: 'OOMKilled' } } }] } },
    'failed',
    'OOMKilled',
  ],
  [{ metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }, 'failed', 'it is being deleted'],
])('what the API says of a pod is one stage with its own words (%#)', (pod, stage, words) => {
  expect(progressOf(pod)).toEqual({ stage, words, machine: pod.spec?.nodeName });
});

const ended = (reason: string, status: SeenPod['status'] = {}): SeenPod => ({
  status: {
    phase: 'Failed',
    containerStatuses: [{ state: { terminated: { reason, exitCode: 137 } } }],
    ...status,
  },
});

test.each<[string, SeenPod, boolean]>([
  ['its first process ended', ended('Error'), true],
  ['it took more memory than it has', ended('OOMKilled'), true],
  ['it was evicted', ended('Error', { reason: 'Evicted' }), false],
  [
    'another pod displaced it',
    ended('Error', { conditions: [{ type: 'DisruptionTarget', status: 'True' }] }),
    false,
  ],
  [
    'it is being deleted',
    { ...ended('Error'), metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } },
    false,
  ],
  ['its machine was restarted', ended('ContainerStatusUnknown'), false],
  ['its machine was full after all', { status: { phase: 'Failed', reason: 'OutOfcpu' } }, false],
  ['it did not begin', waiting('ImagePullBackOff'), false],
])('whether a pod ended by itself is known where the API says: %s', (_, pod, expected) => {
  expect(endedByItself(pod)).toBe(expected);
});
