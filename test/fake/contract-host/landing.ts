/**
 * Landing in `api` mode: the host merges.
 *
 *     merged already                        landed, as the host says (a lost reply is looked up here)
 *     the branch holds the tested base      merge
 *     the branch holds another tree         base-moved
 *     the read is behind                    later
 */
import type { HostSteps } from '../../../src/driver/host-steps.ts';
import type { Landing, LandingOutcome, LandingRequest } from '../../../src/driver/landing.ts';
import { parsedBefore } from '../../../src/driver/read-mapping.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import type { ProposedChange } from '../../../src/model/change.ts';
import { parseCommitId, projectIdOf } from '../../../src/model/project.ts';
import { HostError } from './faults.ts';
import type { ContractHost, Proposal, Snapshot } from './host.ts';
import { parseReporter } from './language.ts';
import { BEHIND, type MonotonicReads } from './monotonic-reads.ts';
import { recordSteps } from './recorded-steps.ts';
import type { BranchHead } from './repository.ts';
import { laterOf, Unserved } from './trouble.ts';

type Tested = NonNullable<LandingRequest['tested']>;

export interface LandingDeps {
  readonly host: ContractHost;
  readonly reads: MonotonicReads;
  readonly clock: Pick<Clock, 'now'>;
}

export function createLanding({ host, reads, clock }: LandingDeps): Landing {
  return {
    async land({ change, tested, config }, signal, mayAct) {
      signal.throwIfAborted();
      if (change.kind === 'ref' || tested === undefined)
        return { kind: 'refused', text: 'there is nothing to merge' };
      const { ask, taken } = recordSteps(clock);
      try {
        const snapshot = await ask('read', change.project, () => reads.read(change.project));
        if (snapshot === undefined) return { kind: 'later', ...BEHIND, ...taken() };
        const settled = outcomeOf(change, tested, snapshot);
        if (settled !== undefined) return { ...settled, ...taken() };
        if (!mayAct()) throw new Error('this process may not act at the code host any more');
        const { merge: strategy } = parsedBefore(parseReporter(config));
        const { name } = projectIdOf(change.project);
        const options = { head: change.commit, strategy: strategy ?? 'merge' };
        const made = await ask('merge', change.project, () => host.merge(name, change.id, options));
        reads.saw(change.project, made.sequence);
        return { ...landedAs(change, made), ...taken() };
      } catch (error) {
        return outcomeOfError(error, taken());
      }
    },
    async landed({ change }, signal) {
      signal.throwIfAborted();
      if (change.kind === 'ref') return [];
      const snapshot = await reads.read(change.project).catch(error => {
        throw unserved(error);
      });
      if (snapshot === undefined) throw new Unserved(BEHIND);
      const landed = snapshot.proposals.get(change.id)?.landed;
      return landed === undefined ? [] : landedAs(change, landed).landed;
    },
  };
}

/** What needs no merge, or must not have one; undefined: it is to be merged. */
function outcomeOf(
  change: ProposedChange,
  tested: Tested,
  { proposals, branches }: Snapshot,
): LandingOutcome | undefined {
  const proposal: Proposal | undefined = proposals.get(change.id);
  if (proposal?.landed !== undefined) return landedAs(change, proposal.landed);
  const head = branches.get(change.branch);
  if (head === undefined) return { kind: 'refused', text: `branch ${change.branch} is gone` };
  const isThere =
    head.commit === tested.before || (tested.beforeTree !== undefined && head.tree === tested.beforeTree);
  if (!isThere)
    return { kind: 'base-moved', text: `${change.branch} holds another tree than the one it was tested on` };
  if (proposal?.state !== 'open') return { kind: 'refused', text: 'the proposal was withdrawn' };
  if (proposal.head !== change.commit)
    return { kind: 'refused', text: `the proposal is at ${proposal.head.slice(0, 8)}` };
  return undefined;
}

function landedAs({ project, branch }: ProposedChange, { commit, tree }: BranchHead) {
  return { kind: 'landed', landed: [{ project, branch, commit: parseCommitId(commit), tree }] } as const;
}

function outcomeOfError(error: unknown, steps: Required<HostSteps>): LandingOutcome {
  if (!(error instanceof HostError)) throw error;
  if (error.status === 'lost') throw Object.assign(unserved(error), steps);
  const later = laterOf(error);
  return later === undefined
    ? { kind: 'refused', text: error.message, ...steps }
    : { kind: 'later', ...later, ...steps };
}

function unserved(error: unknown): Error {
  const later = laterOf(error);
  if (later === undefined) return error instanceof Error ? error : new Error(String(error));
  return new Unserved(later, { unsettled: error instanceof HostError && error.status === 'lost' });
}
