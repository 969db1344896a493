import type { ChangeKey } from '../model/change.ts';
import type { ChangeFacts } from './turn.ts';

/** Direct dependencies, merged ones among them; a change that names itself does not depend on itself. */
export function neededBy({ record, topic }: ChangeFacts): readonly ChangeKey[] {
  const { change, dependsOn } = record;
  return [...new Set([...dependsOn, ...(topic?.changes ?? [])])].filter(key => key !== change.key);
}
