/** The `window` options of a pipeline: how many items of a queue a dependent pipeline tests at a time. */
import type { ManagerName, WindowPolicy } from '../../model/pipeline.ts';
import type { MappingReader } from '../reading/mapping-reader.ts';

interface WindowRule {
  /** Items tested at the same time; 0: no limit. */
  readonly initial: number;
  /** `ignored`: as in Zuul. `refused`: they contradict the manager. */
  readonly options: 'read' | 'ignored' | 'refused';
}

const RULES: Readonly<Record<ManagerName, WindowRule>> = {
  independent: { initial: 0, options: 'ignored' },
  dependent: { initial: 20, options: 'read' },
  serial: { initial: 1, options: 'refused' },
  supercedent: { initial: 1, options: 'refused' },
};

const OPTIONS = [
  ...['window', 'window-floor', 'window-ceiling', 'window-increase-type', 'window-increase-factor'],
  ...['window-decrease-type', 'window-decrease-factor'],
];

/** Only `dependent` reads the options: `independent` checks and ignores them, the other managers refuse them. */
export function parseWindow(read: MappingReader, manager: ManagerName): WindowPolicy {
  const { initial, options } = RULES[manager];
  if (options === 'refused') return refuseOptions(read, manager, initial);
  const policy = readOptions(read, options === 'read');
  return { ...policy, initial: options === 'read' ? (policy.initial ?? initial) : initial };
}

function readOptions(read: MappingReader, counts: boolean) {
  const initial = read.integer('window', { min: 0 });
  const floor = read.integer('window-floor', { min: 1 });
  const ceilingNode = read.node('window-ceiling');
  const unlimited = ceilingNode?.kind === 'scalar' && ceilingNode.value === null;
  const ceiling = unlimited ? undefined : read.integer('window-ceiling', { min: 1 });
  const step = (direction: 'increase' | 'decrease') => ({
    type: read.oneOf(`window-${direction}-type`, ['linear', 'exponential']),
    factor: read.integer(`window-${direction}-factor`, { min: 1 }),
  });
  const increase = step('increase');
  const decrease = step('decrease');
  if (counts && ceiling !== undefined && ceiling < (floor ?? 3)) {
    const text = `window-ceiling ${ceiling} is below window-floor ${floor ?? 3}; raise it or lower the floor`;
    read.refuse(ceilingNode?.offset ?? 0, 'out-of-range', text);
  }
  return {
    initial,
    floor: floor ?? 3,
    ...(ceiling === undefined ? {} : { ceiling }),
    increase: { type: increase.type ?? 'linear', factor: increase.factor ?? 1 },
    decrease: { type: decrease.type ?? 'exponential', factor: decrease.factor ?? 2 },
  } as const;
}

/** `window: 1` is what the manager does, and is accepted. */
function refuseOptions(read: MappingReader, manager: ManagerName, only: number): WindowPolicy {
  for (const option of OPTIONS) {
    const node = read.node(option);
    if (node === undefined) continue;
    if (option === 'window' && node.kind === 'scalar' && node.value === only) continue;
    const text = `a ${manager} pipeline runs one item of a queue at a time, so ${option} has no effect; remove it, or use manager dependent`;
    read.refuse(node.offset, 'wrong-manager', text);
  }
  return {
    initial: only,
    floor: only,
    ceiling: only,
    increase: { type: 'linear', factor: 1 },
    decrease: { type: 'linear', factor: 1 },
  };
}
