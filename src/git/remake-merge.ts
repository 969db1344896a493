/**
 * Makes a merge commit again where it is missing: chains are pure functions of their base and their changes (`merge-chain.ts`),
 * so a machine needs only the inputs, from the code host, and not the result.
 *
 *     await remakeMerge(repository, remote, {
 *       branch: main, base: tip, commit: tested,
 *       inputs: [{ ref: pull7, commit: head7, message }, { ref: pull9, commit: head9, message }],
 *     })                            → { kind: 'made' }                    and `tested` is in the mirror
 *
 * If a commit is missing, the branch itself is fetched, too: it contains changes that have landed since, even if their own refs are
 * gone. If none is, the host is not asked.
 */
import { assertNever } from '../lib/assert-never.ts';
import type { ChainOutcome, ChainStep } from './merge/merge-chain.ts';
import type { ObjectId } from './objects/object-id.ts';
import type { RefName } from './objects/ref-name.ts';
import type { Remote } from './process/remote.ts';
import type { RemoteFailure } from './process/remote-failure.ts';
import type { Repository } from './repository.ts';

/** How a tested commit was made, as the merger recorded it. */
export interface MergeRecipe {
  /** Full ref of the branch the chain began on. */
  readonly branch: RefName;
  /** Where it began. */
  readonly base: ObjectId;
  /** In the order of their merges. */
  readonly inputs: readonly ({ readonly ref: RefName; readonly commit: ObjectId } & Omit<
    ChainStep,
    'change'
  >)[];
  /** The expected result. */
  readonly commit: ObjectId;
}

/** `made`: the commit is in the mirror, with exactly the expected id. */
export type RemakeOutcome =
  | { readonly kind: 'made' }
  /** The remote no longer has an input, e.g. after a forced push. */
  | { readonly kind: 'missing'; readonly ref: RefName; readonly commit: ObjectId }
  /** The same inputs gave another commit here. */
  | { readonly kind: 'different'; readonly detail: string }
  | RemoteFailure;

/** @param repository the mirror that lacks the commit. */
export async function remakeMerge(
  repository: Pick<Repository, 'fetch' | 'chain' | 'reader'>,
  remote: Remote,
  { branch, base, inputs, commit }: MergeRecipe,
): Promise<RemakeOutcome> {
  const needed = [
    { ref: branch, commit: base },
    ...inputs.map(({ ref, commit: id }) => ({ ref, commit: id })),
  ];
  const missing = await repository.reader.missing(needed.map(({ commit: id }) => id));
  const outcome = await repository.fetch(
    remote,
    missing.length === 0 ? needed : [...needed, { ref: branch }],
  );
  if (outcome.kind !== 'fetched') return outcome;
  const lost = needed.find((_, index) => outcome.commits[index] === undefined);
  if (lost !== undefined) return { kind: 'missing', ...lost };
  const steps = inputs.map(({ ref: _, commit: change, ...step }) => ({ ...step, change }));
  return compared(await repository.chain.merge(base, steps), commit);
}

function compared(outcome: ChainOutcome, wanted: ObjectId): RemakeOutcome {
  switch (outcome.kind) {
    case 'merged': {
      const made = outcome.links.at(-1)?.commit;
      if (made === wanted) return { kind: 'made' };
      return { kind: 'different', detail: `the merges gave ${made ?? 'nothing'}` };
    }
    case 'conflict':
      return {
        kind: 'different',
        detail: `merge ${outcome.at + 1} conflicts in ${outcome.files.join(', ')}`,
      };
    case 'unrelated':
      return { kind: 'different', detail: `change ${outcome.at + 1} shares no commit with the branch` };
    case 'refused':
      return { kind: 'different', detail: `change ${outcome.at + 1} ${outcome.text}` };
    default:
      return assertNever(outcome);
  }
}
