/** What builds return is stored with their item, which must stay small enough to be written at once. */
import { type Build, returnedBy } from '../model/build.ts';
import type { BuildSet } from '../model/build-set.ts';
import { RETURNED_PER_BUILDSET, type Returned } from '../model/returned.ts';

/** @param own build that returned it. @returns why `returned` does not fit, for people; undefined: it does. */
export function excessReturned({ builds }: BuildSet, own: Build, returned: Returned): string | undefined {
  const others = builds.filter(build => build.uuid !== own.uuid);
  const used = others.reduce((sum, build) => sum + sizeOf(returnedBy(build)), 0);
  const sum = used + sizeOf(returned);
  if (sum <= RETURNED_PER_BUILDSET) return undefined;
  return `it returned data, and with it the jobs of this change returned ${sum} characters: more than ${RETURNED_PER_BUILDSET} are not kept`;
}

function sizeOf(returned: Returned | undefined): number {
  return returned === undefined ? 0 : JSON.stringify(returned).length;
}
