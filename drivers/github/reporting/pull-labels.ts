/** Labels: added and removed only where they differ, because each change of a label is an event for all who watch. */
import type { GithubReportContext, NotOk } from './report-context.ts';

/** GitHub takes 100 labels on one issue. */
const PAGE = 100;

/** `ok`: the pull request has the labels that are to be added, and none of those to be removed. */
export async function writeLabels(
  pull: number,
  context: GithubReportContext,
): Promise<{ kind: 'ok' } | NotOk> {
  const { api, call, words } = context;
  const number = { issue_number: pull };
  const held = await api.rest(
    'issues/list-labels-on-issue',
    'GET /repos/{owner}/{repo}/issues/{issue_number}/labels',
    { ...number, per_page: PAGE },
    call('notice'),
  );
  if (held.kind !== 'ok') return held;
  // GitHub compares the names of labels without their case.
  const names = new Map(held.data.map(({ name }) => [name.toLowerCase(), name]));
  const missing = (words.label ?? []).filter(name => !names.has(name.toLowerCase()));
  if (missing.length > 0) {
    const added = await api.rest(
      'issues/add-labels',
      'POST /repos/{owner}/{repo}/issues/{issue_number}/labels',
      { ...number, labels: missing },
      call('notice'),
    );
    if (added.kind !== 'ok') return added;
  }
  for (const name of words.unlabel ?? []) {
    const label = names.get(name.toLowerCase());
    if (label === undefined) continue;
    const removed = await api.rest(
      'issues/remove-label',
      'DELETE /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}',
      { ...number, name: label },
      call('notice'),
    );
    const isGone = removed.kind === 'refused' && removed.status === 404;
    if (removed.kind !== 'ok' && !isGone) return removed;
  }
  return { kind: 'ok' };
}
