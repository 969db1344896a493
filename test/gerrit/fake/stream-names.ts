/** Events in short, for tests that look at their order: `ref-updated refs/heads/master`, `change-merged 12`. */
import { isShape } from '../../github/fake/shape.ts';
import type { EmittedEvent } from './world.ts';

export function streamNames(events: readonly EmittedEvent[]): readonly string[] {
  return events.map(({ json }) => {
    if (isShape(json.refUpdate)) return `ref-updated ${String(json.refUpdate.refName)}`;
    return isShape(json.change) ? `${String(json.type)} ${String(json.change.number)}` : String(json.type);
  });
}
