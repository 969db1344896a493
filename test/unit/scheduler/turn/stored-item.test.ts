import { describe, expect, test } from 'vitest';
import type { Build } from '../../../../src/model/build.ts';
import { queueItemCodec } from '../../../../src/model/codec/records.ts';
import type { QueueItem } from '../../../../src/model/queue-item.ts';
import type { Step } from '../../../../src/model/step.ts';
import { encodeStoredItem, storableItem } from '../../../../src/scheduler/turn/stored-item.ts';
import { at, itemStory } from '../../../fake/queue-item.ts';

const parts = Array.from(
  { length: 1_000 },
  (_, index): Step => ({
    kind: 'AnsibleTask',
    subject: `task ${index} ${'x'.repeat(60)}`,
    startedAt: at(20),
    endedAt: at(21),
    result: 'SUCCESS',
    facts: { host: 'localhost', module: 'ansible.builtin.command', changed: true },
  }),
);

/** An item of so many ended builds, each with as many parts as a build may have. */
function itemWith(builds: number): QueueItem {
  const story = itemStory();
  story.merge().wait(10).merged().freeze(['a']).wait(1).start('a').wait(100).finish('a', 'SUCCESS');
  const [build] = story.item.buildset.builds;
  if (build?.state.state !== 'completed' || build.state.execution === null) throw new Error('not completed');
  const playbook = { ...build.state.execution.steps.find(({ kind }) => kind === 'Playbook')!, steps: parts };
  const large: Build = {
    ...build,
    state: { ...build.state, execution: { ...build.state.execution, steps: [playbook] } },
  };
  return {
    ...story.item,
    buildset: { ...story.item.buildset, builds: Array.from({ length: builds }, () => large) },
  };
}

describe('a stored item', () => {
  test('is whole as long as it fits', () => {
    const item = itemWith(1);
    expect(storableItem(item)).toBe(item);
    expect(encodeStoredItem(item)).toEqual(queueItemCodec.encode(item));
  });

  test('fits with any number of parts of playbooks: the playbooks stay, their parts do not', () => {
    const item = itemWith(20);
    expect(queueItemCodec.encode(item).byteLength).toBeGreaterThan(4_000_000);
    const data = encodeStoredItem(item);
    expect(data.byteLength).toBeLessThan(100_000);
    const [build] = storableItem(item).buildset.builds;
    expect(build?.state).toMatchObject({ execution: { steps: [{ kind: 'Playbook' }] } });
    expect(JSON.stringify(build)).not.toContain('AnsibleTask');
  });
});
