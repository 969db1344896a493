/** The `window` options of a pipeline. Which of them mean something depends on its manager. */
import type { ManagerName, WindowPolicy } from '../model/pipeline.ts';
import type { ItemReader } from './item-reader.ts';

/** `configured`: as the options say. A number: always that many, 0 for no limit. */
const WINDOWS: Readonly<Record<ManagerName, 'configured' | number>> = {
  independent: 0,
  dependent: 'configured',
};

export function parseWindow(read: ItemReader, manager: ManagerName): WindowPolicy {
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
  const kind = WINDOWS[manager];
  if (kind === 'configured' && ceiling !== undefined && ceiling < (floor ?? 3)) {
    const text = `window-ceiling ${ceiling} is below window-floor ${floor ?? 3}; raise it or lower the floor`;
    read.refuse(ceilingNode?.offset ?? 0, 'out-of-range', text);
  }
  return {
    initial: kind === 'configured' ? (initial ?? 20) : kind,
    floor: floor ?? 3,
    ...(ceiling === undefined ? {} : { ceiling }),
    increase: { type: increase.type ?? 'linear', factor: increase.factor ?? 1 },
    decrease: { type: decrease.type ?? 'exponential', factor: decrease.factor ?? 2 },
  };
}
