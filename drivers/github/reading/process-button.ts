/**
 * The button of a check run of ours. The run's external id names the item, with the buildset that it has by now; the run's commit
 * says which change that is about.
 */
import { nothingFound } from '../../../src/driver/host-finding.ts';
import { isUuid, parseUuid, type Uuid } from '../../../src/lib/ids.ts';
import { type Change, type ChangeKey, changeKey, refUpdateKey } from '../../../src/model/change.ts';
import { parseCommitId } from '../../../src/model/project.ts';
import type { ButtonAbout } from '../intake/notification.ts';
import { pullsOfCommit } from './process-commit.ts';
import type { EventProcessing, GithubFound } from './processing.ts';
import { openPullIndexes } from './pull-finding.ts';
import { readMayWrite } from './read-permission.ts';
import { githubRefUpdate } from './read-ref.ts';

/** @throws RecordError `newer` when an upgraded process wrote the memory. */
export async function processButton(about: ButtonAbout, processing: EventProcessing): Promise<GithubFound> {
  const { notification, memory, call, deps } = processing;
  const { commit, identifier } = about;
  if (identifier !== 'dequeue') return nothingFound(`button ${identifier} is not known`);
  const place = placeOf(about);
  if (place === undefined) return nothingFound('the check run is of no item');
  const indexes = openPullIndexes(memory, notification.repository);
  const numbers = await pullsOfCommit(commit, indexes.heads, processing);
  if ('later' in numbers) return numbers;
  const by = notification.actor;
  const permission = await readMayWrite(by, call, deps.api);
  switch (permission.kind) {
    case 'later':
      return { later: permission.later };
    case 'may': {
      const dequeues = keysOf(numbers, about, processing).map(change => ({ change, ...place, by }));
      return { happened: [], changes: [], memory: [], dequeues };
    }
    case 'may-not': {
      const text = `the button of ${about.run} was pressed, without effect: ${permission.text}`;
      const change = await shownChange(numbers, about, processing);
      if (change === undefined) return nothingFound(text);
      if ('later' in change) return change;
      return { ...nothingFound(text), refusals: [{ change, text }] };
    }
  }
}

/** The external id is `<tenant>/<pipeline>/<item>`, and the run's name its beginning. */
function placeOf({
  run,
  externalId,
}: ButtonAbout): { readonly tenant: string; readonly pipeline: string; readonly item: Uuid } | undefined {
  const slash = run.indexOf('/');
  const item = externalId?.startsWith(`${run}/`) ? externalId.slice(run.length + 1) : '';
  if (slash < 1 || !isUuid(item)) return undefined;
  return { tenant: run.slice(0, slash), pipeline: run.slice(slash + 1), item: parseUuid(item) };
}

/** Changes that may have the commit. The item is of one of them: a request for another finds nothing. */
function keysOf(
  numbers: readonly number[],
  { commit, branch }: ButtonAbout,
  { project }: EventProcessing,
): readonly ChangeKey[] {
  const refs = branch === undefined ? [] : [`refs/heads/${branch}`, `refs/tags/${branch}`];
  return [
    ...numbers.map(number => changeKey(project, String(number))),
    ...refs.map(ref => refUpdateKey(project, ref, parseCommitId(commit))),
  ];
}

/** The change that the decision about a refusal is shown with; undefined: not known. */
async function shownChange(
  [number]: readonly number[],
  { commit, branch }: ButtonAbout,
  { project, call, deps }: EventProcessing,
): Promise<Change | Extract<GithubFound, { later: unknown }> | undefined> {
  if (number === undefined)
    return branch === undefined ? undefined : githubRefUpdate(project, `refs/heads/${branch}`, null, commit);
  const read = await deps.readPull(project, number, call);
  if (read.kind === 'later') return { later: read.later };
  return read.kind === 'read' ? read.record.change : undefined;
}
