import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PipelineEvent } from '../../src/model/event.ts';
import type { QueueItem } from '../../src/model/queue-item.ts';
import { previewAct } from '../../src/pipeline/preview-act.ts';
import { Chaos, honestNature } from '../unit/pipeline/chaos.ts';
import { job, type PipelineWorld, World } from '../unit/pipeline/world.ts';
import { more, name, patience, steps } from './histories.ts';

const COMMON = {
  by: 'bob',
  management: { receivedAt: new World().now, storedAt: new World().now, sampled: false },
};

function actOn(gate: PipelineWorld, item: QueueItem, pick: number): PipelineEvent {
  const uuid = gate.world.uuid();
  const { key } = item.changes[0];
  if (pick === 0) return { kind: 'dequeue', uuid, change: key, by: 'bob' };
  if (pick === 1) return { kind: 'promote', uuid, changes: [key], by: 'bob' };
  return { kind: 'rerun', uuid, item: item.uuid, change: key, ...COMMON };
}

/** Items that are tested again, and those that are gone, as `<change> <effect>`. */
function whatHappens(gate: PipelineWorld, event: PipelineEvent): readonly string[] {
  const before = gate.items();
  gate.turn([event]);
  return before.flatMap(item => {
    const [{ key }] = item.changes;
    const after = gate.state.items.get(item.uuid);
    if (after === undefined) return [`${key} left`];
    const ended = after.buildset.stage.state === 'superseded' && item.buildset.stage.state !== 'superseded';
    return ended || after.buildset.uuid !== item.buildset.uuid ? [`${key} reset`] : [];
  });
}

test(
  'in any state of a gate an act does to its items what the preview said',
  () => {
    const seen = new Map<string, number>();
    fc.assert(
      fc.property(steps(40), fc.nat({ max: 2 }), fc.nat(), (played, kind, pick) => {
        const world = new World();
        const gate = world.pipeline('gate', { manager: 'dependent', window: { initial: 4, floor: 2 } });
        world.jobs('app', [job('unit'), job('lint')]);
        for (let index = 0; index < 6; index += 1)
          world.change(name(index), { project: 'app', dependsOn: index === 3 ? ['B'] : [] });
        const nature = { ...honestNature(gate, new Set(['C'])), meddling: false };
        new Chaos(gate, nature).play(played);
        const items = gate.items();
        const item = items[pick % Math.max(items.length, 1)];
        if (item === undefined) return;
        const event = actOn(gate, item, kind);
        const { now, ids } = world;
        const preview = previewAct({ now, ids, tenant: 'tenant', ...gate, event });
        const said = preview.items.map(({ item: uuid, effect }) => {
          const key = gate.state.items.get(uuid)?.changes[0].key;
          const isWhole = items.find(each => each.uuid === uuid)?.buildset.stage.state === 'complete';
          return effect === 'rerun' ? (isWhole ? `${key} reset` : '') : `${key} ${effect}`;
        });
        expect(said.filter(text => text !== '')).toEqual(whatHappens(gate, event));
        for (const { effect } of preview.items) seen.set(effect, (seen.get(effect) ?? 0) + 1);
      }),
      { numRuns: 300 * more },
    );
    expect([...seen.keys()].sort()).toEqual(['left', 'rerun', 'reset']);
  },
  patience,
);
