/**
 * Writes results as git notes.
 *
 * A note is a paragraph on the change's commit in `refs/notes/gatehouse` (`git fetch origin refs/notes/*:refs/notes/*`, `git
 * log --notes=gatehouse`). It names the item, so that a repetition after a crash adds nothing.
 */
import type { DriverLog } from '../../src/driver/connection.ts';
import { textWithRemarks } from '../../src/driver/remarks-text.ts';
import type { Reporter, ReportRequest } from '../../src/driver/reporter.ts';
import { type ObjectId, parseObjectId } from '../../src/git/objects/object-id.ts';
import { parseRefName, type RefName } from '../../src/git/objects/ref-name.ts';
import { redact } from '../../src/lib/redact.ts';
import { changeText, commitOf } from '../../src/model/change.ts';
import type { Report } from '../../src/model/report.ts';
import { type ActingDeps, openActing } from './acting.ts';
import { branchRef } from './ref-view.ts';
import type { Absent, NoteResult, ProjectGit } from './remote-git.ts';
import { reporterNotes } from './reporter-config.ts';

/** The log gets the notes that a host refused. */
export interface ReporterDeps extends ActingDeps {
  readonly log: DriverLog;
}

const NOTES_REF = parseRefName('refs/notes/gatehouse');

/** A refused note is a `failed` report. @throws HostFailed from `report`, which may be repeated. */
export function createReporter(deps: ReporterDeps): Reporter {
  return {
    async report(request, signal, mayAct = () => true) {
      signal.throwIfAborted();
      if (!reporterNotes(request.config, request.report.action)) return { kind: 'done' };
      const git = await openActing(request.change.project, deps, signal, mayAct);
      const noted = await note(request, git);
      if (noted.kind === 'noted') return { kind: 'done' };
      deps.log.warn(
        { change: changeText(request.change), reason: noted.text },
        'a result could not be noted',
      );
      return { kind: 'failed', text: redact(`the note was not taken: ${noted.text}`, deps.secrets) };
    },
  };
}

async function note(request: ReportRequest, git: ProjectGit): Promise<NoteResult> {
  const commit = commitOf(request.change);
  if (commit === null) return { kind: 'noted' };
  const id = parseObjectId(commit);
  const absent = await bringHere(id, request, git);
  if (absent !== undefined) return { kind: 'rejected', text: `${commit} is ${absent.text}` };
  return git.note(NOTES_REF, id, noteText(request.report));
}

/**
 * Fetches the commit, from the target branch when the proposal branch is gone.
 *
 * @returns undefined: the mirror has it.
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

/** One paragraph: git ends a paragraph at a blank line, and the notes compare whole paragraphs to find existing ones. */
export function noteText(report: Report): string {
  const { place, action, result, item } = report;
  const text = textWithRemarks(report);
  const lines = text.split('\n').map(line => line.trimEnd());
  const subject = [place.tenant, place.pipeline, action, result].filter(part => part !== '').join(' ');
  return [...lines, `Gatehouse: ${subject}, item ${item ?? ''}`].filter(line => line !== '').join('\n');
}
