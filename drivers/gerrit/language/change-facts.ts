import { isMapping } from '../../../src/driver/read-mapping.ts';
import type { ChangeRecord } from '../../../src/model/change.ts';
import type { GerritFacts } from '../facts.ts';

/** Facts of a change; undefined: the record is of a branch or tag. @throws Error for a record of another driver. */
export function gerritFactsOf({ facts }: Pick<ChangeRecord, 'facts'>): GerritFacts | undefined {
  if (!isMapping(facts)) throw new Error('the change record is not of the Gerrit driver');
  if (facts.kind === 'ref') return undefined;
  if (facts.kind !== 'change') throw new Error('the change record is not of the Gerrit driver');
  return facts as unknown as GerritFacts;
}
