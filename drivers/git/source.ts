/** The reading side of a connection: events, single changes, branches, merge messages. */
import type { HostHealth } from '../../src/driver/host-health.ts';
import { type NamedChange, readChangeKey } from '../../src/driver/read-change-key.ts';
import { refUpdate, refUpdateRecord } from '../../src/driver/ref-update.ts';
import type { ProcessedEvent, Source } from '../../src/driver/source.ts';
import { isRefName } from '../../src/git/objects/ref-name.ts';
import type { ChangeRecord } from '../../src/model/change.ts';
import { type ProjectKey, parseCommitId } from '../../src/model/project.ts';
import { changeOfUrl, type NamedPlaces } from './depends-on.ts';
import { mergeMessage } from './merge-message.ts';
import { type ProcessDeps, processEvent } from './process-event.ts';
import { neededCommits, readProposals } from './proposal-states.ts';
import { parseChangeId, type Refs, readRefs } from './ref-view.ts';
import { eventProject, isPolled } from './refs-changed.ts';
import { HostFailed, type ProjectGit } from './remote-git.ts';

/** Of one connection. */
export interface SourceDeps extends ProcessDeps, Omit<NamedPlaces, 'projects'> {
  readonly health: Pick<HostHealth, 'processed'>;
  /** The host announces changes with webhooks. */
  readonly announces: boolean;
  /** There are no changes that others could depend on. */
  readonly readOnly: boolean;
}

/** An event whose remote does not serve is postponed (`later`); the other calls throw HostFailed. */
export function createSource(deps: SourceDeps): Source {
  // `fetchChange` does not get them; until the first event any project counts.
  let projects: ReadonlySet<ProjectKey> | undefined;
  return {
    async process(event, context) {
      projects = context.projects;
      try {
        const processed = await processEvent(event, context, deps);
        deps.health.processed(event.receivedAt, deps.announces && isPolled(event) && foundChanges(processed));
        return processed;
      } catch (error) {
        if (!(error instanceof HostFailed) || !error.retryable) throw error;
        return { later: { reason: error.reason, text: error.message } };
      }
    },
    // The memory is per project, and one reading answers all its notifications.
    lane: event => eventProject(event) ?? '',
    coalesceKey: eventProject,
    async fetchChange(key, signal) {
      const named = readChangeKey(key, deps.connection, id => parseChangeId(id) !== undefined);
      if (named === undefined) return undefined;
      signal.throwIfAborted();
      const git = await deps.openGit(named.project);
      return named.kind === 'change'
        ? fetchProposal(named.project, named.id, git, projects, deps)
        : fetchRef(named, await git.refs(), git, deps);
    },
    async changeOfUrl(value, known) {
      return deps.readOnly ? undefined : changeOfUrl(value, { ...deps, projects: known });
    },
    async branches(project, signal) {
      signal.throwIfAborted();
      const view = readRefs(await (await deps.openGit(project)).refs(), deps.templates);
      return [...view.branches].map(([branch, commit]) => ({ branch, commit: parseCommitId(commit) }));
    },
    mergeMessage,
  };
}

/** The refs differ from the memory, and the project is not read for the first time. */
function foundChanges({ memory, firstLooks }: ProcessedEvent): boolean {
  return memory.length > 0 && firstLooks === undefined;
}

async function fetchProposal(
  project: ProjectKey,
  id: string,
  git: ProjectGit,
  projects: ReadonlySet<ProjectKey> | undefined,
  deps: SourceDeps,
): Promise<ChangeRecord | undefined> {
  const view = readRefs(await git.refs(), deps.templates);
  const proposal = view.proposals.get(id);
  if (proposal === undefined) return undefined;
  const branches = new Set([proposal.branch]);
  const absent = await git.bring(neededCommits(view, branches));
  if (absent.some(({ reason }) => reason === 'moved')) {
    throw new HostFailed(project, {
      message: `proposals for ${proposal.branch} moved while they were fetched`,
      retryable: true,
    });
  }
  const now = deps.clock.now();
  const states = await readProposals(view, branches, { project, git, projects, now, absent });
  const state = states.find(each => each.proposal.id === id);
  return state?.kind === 'read' ? state.record : undefined;
}

/** A ref update can be read as long as the ref is where it went; where it came from is not known any more. */
async function fetchRef(
  { project, ref, commit }: Extract<NamedChange, { readonly kind: 'ref' }>,
  refs: Refs,
  git: ProjectGit,
  deps: SourceDeps,
): Promise<ChangeRecord | undefined> {
  if (!isRefName(ref)) return undefined;
  const isBranch = readRefs(refs, deps.templates).branches.has(ref.replace('refs/heads/', ''));
  const present = refs.get(ref);
  if (present !== undefined && !isBranch && commit !== null) await git.bringRefs([ref]);
  const peeled = present === undefined || isBranch ? undefined : (await git.peel([present])).get(present);
  if ((peeled ?? present ?? null) !== commit) return undefined;
  const change = refUpdate(project, { ref, before: null, after: commit });
  return refUpdateRecord(change, {}, deps.clock.now());
}
