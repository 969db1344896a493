import { isMapping } from '../../../src/driver/read-mapping.ts';
import type { ChangeRecord } from '../../../src/model/change.ts';
import type { PullFacts } from '../facts.ts';

/** Facts of a pull request; undefined: the record is of a branch or tag. @throws Error for a record of another driver. */
export function pullFactsOf({ facts }: Pick<ChangeRecord, 'facts'>): PullFacts | undefined {
  if (!isMapping(facts)) throw new Error('the change record is not of the GitHub driver');
  if (facts.kind === 'ref') return undefined;
  if (facts.kind !== 'pull') throw new Error('the change record is not of the GitHub driver');
  return facts as unknown as PullFacts;
}
