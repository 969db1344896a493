/** What builds return is stored with their item, which must stay small enough to be written at once. */
import type { BuildSet } from '../model/build-set.ts';
import { RETURNED_PER_BUILDSET, type Returned } from '../model/returned.ts';

/** @returns why `returned` does not fit, for people; undefined: it does. */
export function excessReturned({ builds }: BuildSet, returned: Returned): string | undefined {
  const used = builds.reduce(
    (sum, { state }) => sum + (state.state === 'completed' ? sizeOf(state.returned) : 0),
    0,
  );
  const sum = used + sizeOf(returned);
  if (sum <= RETURNED_PER_BUILDSET) return undefined;
  return `it returned data, and with it the jobs of this change returned ${sum} characters: more than ${RETURNED_PER_BUILDSET} are not kept`;
}

function sizeOf(returned: Returned | undefined): number {
  return returned === undefined ? 0 : JSON.stringify(returned).length;
}
