/**
 * Says results as git notes and lands what passed.
 *
 * A note is a paragraph on the change's commit in `refs/notes/gatehouse` (`git fetch origin refs/notes/*:refs/notes/*`, `git
 * log --notes=gatehouse`). It names the item, so that saying it again after a crash adds nothing.
 */
import type { DriverLog } from '../../src/driver/connection.ts';
import type { Reporter, ReportRequest } from '../../src/driver/reporter.ts';
import { type ObjectId, parseObjectId } from '../../src/git/object-id.ts';
import { parseRefName, type RefName } from '../../src/git/ref-name.ts';
import { assertNever } from '../../src/lib/assert-never.ts';
import { redact } from '../../src/lib/redact.ts';
import type { Secret } from '../../src/lib/secret.ts';
import { changeText, commitOf } from '../../src/model/change.ts';
import type { ReportOutcome } from '../../src/model/event.ts';
import type { ProjectKey } from '../../src/model/project.ts';
import { hasLanded, land } from './land.ts';
import { branchRef, type Templates } from './ref-view.ts';
import { type Absent, HostFailed, type NoteResult, type ProjectGit } from './remote-git.ts';
import { reporterMerges, reporterNotes } from './reporter-config.ts';

export interface ReporterDeps {
  readonly log: DriverLog;
  readonly templates: Templates;
  readonly openGit: (project: ProjectKey) => Promise<ProjectGit>;
  /** Never in a text of ours, whatever a remote says. */
  readonly secrets: readonly Secret[];
}

export const NOTES_REF = parseRefName('refs/notes/gatehouse');

export function createReporter(deps: ReporterDeps): Reporter {
  return {
    async report(request, signal, mayAct = () => true) {
      signal.throwIfAborted();
      const allowed = () => mayAct() && !signal.aborted;
      const git = actingOnlyWhile(allowed, await deps.openGit(request.change.project));
      const merges = request.action === 'success' && reporterMerges(request.config);
      const outcome: ReportOutcome = merges
        ? await landed(request, git, deps)
        : { kind: 'done', merged: false };
      if (outcome.kind !== 'done' || !reporterNotes(request.config, request.action))
        return clean(outcome, deps);
      const noted = await noteAfter(outcome, request, git, deps);
      if (noted.kind === 'noted') return outcome;
      if (noted.kind === 'unsaid') return { ...outcome, unsaid: true };
      deps.log.warn(
        { change: changeText(request.change), reason: noted.text },
        'a result could not be noted',
      );
      // What has landed has landed; a missing note does not undo it.
      return outcome.merged
        ? outcome
        : clean({ kind: 'failed', text: `the note was not taken: ${noted.text}` }, deps);
    },
    async hasLanded({ change, tested }, signal) {
      signal.throwIfAborted();
      if (change.kind === 'ref' || tested === undefined) return false;
      return hasLanded(change, tested, await deps.openGit(change.project));
    },
  };
}

/** The last look before each push: whoever was stopped since he looked at the refs finds out here. */
function actingOnlyWhile(allowed: () => boolean, git: ProjectGit): ProjectGit {
  const require = (): void => {
    if (!allowed()) throw new Error('this process may not act at the code host any more');
  };
  return {
    ...git,
    async push(changes) {
      require();
      return git.push(changes);
    },
    async note(ref, commit, text) {
      require();
      return git.note(ref, commit, text);
    },
  };
}

function clean(outcome: ReportOutcome, { secrets }: ReporterDeps): ReportOutcome {
  switch (outcome.kind) {
    case 'done':
    case 'host':
      return outcome;
    case 'base-moved':
    case 'not-merged':
    case 'withdrawn':
    case 'failed':
      return { ...outcome, text: redact(outcome.text, secrets) };
    default:
      return assertNever(outcome, 'report outcome');
  }
}

async function landed(
  { change, tested }: ReportRequest,
  git: ProjectGit,
  deps: ReporterDeps,
): Promise<ReportOutcome> {
  if (change.kind === 'ref')
    return { kind: 'not-merged', text: `${change.ref} is where it should be; there is nothing to merge` };
  if (tested === undefined) return { kind: 'not-merged', text: 'nothing was tested' };
  return land(change, tested, deps.templates, git);
}

/** A host that takes the landing and then not the note has landed the change all the same. */
async function noteAfter(
  outcome: Extract<ReportOutcome, { kind: 'done' }>,
  request: ReportRequest,
  git: ProjectGit,
  { log }: ReporterDeps,
): Promise<NoteResult | { readonly kind: 'unsaid' }> {
  try {
    return await note(request, git);
  } catch (error) {
    if (!outcome.merged || !(error instanceof HostFailed)) throw error;
    log.warn({ change: changeText(request.change), reason: error.message }, 'landed; the note is for later');
    return { kind: 'unsaid' };
  }
}

async function note(request: ReportRequest, git: ProjectGit): Promise<NoteResult> {
  const commit = commitOf(request.change);
  if (commit === null) return { kind: 'noted' };
  const id = parseObjectId(commit);
  const absent = await bringHere(id, request, git);
  if (absent !== undefined) return { kind: 'rejected', text: `${commit} is ${absent.text}` };
  return git.note(NOTES_REF, id, noteText(request));
}

/**
 * The proposal branch may be gone, and the commit then be found in the branch it was merged into.
 *
 * @returns undefined: it is here.
 */
async function bringHere(
  commit: ObjectId,
  { change }: ReportRequest,
  git: ProjectGit,
): Promise<Absent | undefined> {
  if (await git.has(commit)) return undefined;
  const refs: readonly RefName[] =
    change.branch === undefined
      ? [parseRefName(change.ref)]
      : [parseRefName(change.ref), branchRef(change.branch)];
  let absent: Absent | undefined;
  for (const ref of refs) {
    [absent] = await git.bring([{ ref, commit }]);
    if (absent === undefined) return undefined;
  }
  return absent;
}

/** One paragraph: git ends a paragraph at a blank line, and whole paragraphs are compared to find one that is there already. */
export function noteText({ message, tenant, pipeline, action, result, item }: ReportRequest): string {
  const lines = message.split('\n').map(line => line.trimEnd());
  const trailer = `Gatehouse: ${[tenant, pipeline, action, result].filter(part => part !== '').join(' ')}, item ${item}`;
  return [...lines, trailer].filter(line => line !== '').join('\n');
}
