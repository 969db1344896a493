/** Jobs on pods of a Kubernetes provider, which a fake API server has and a stand-in for the kubelet runs. */
import { describe, expect, inject, test } from 'vitest';
import { MACHINE } from '../fake/kubernetes/kubelet.ts';
import { startCluster } from '../fake/kubernetes/start-cluster.ts';
import { describeOnAnsible } from '../setup/ansible.ts';
import { ON_SSHD } from '../setup/provided.ts';
import { DEADLINE } from './observer.ts';
import { openPodsWorld, playPods, podsSpansSeen } from './pods-story.ts';

describeOnAnsible('jobs on pods', () => {
  describe.skipIf(inject('sshd').kind !== 'found')(ON_SSHD, () => {
    test('run in pods that are made for them, and end with the words of the provider where there are none', {
      timeout: 4 * DEADLINE,
    }, async () => {
      await using provider = await startCluster();
      const { api, kubelet } = provider;
      await using world = await openPodsWorld(provider.section);
      await playPods(world, new RegExp(MACHINE));
      expect(api.pods()).toEqual([]);
      for (const pod of api.created()) expect(kubelet.running(pod)).toBe(0);
      await podsSpansSeen(world);
    });
  });
});
