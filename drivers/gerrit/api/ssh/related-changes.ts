/** Which changes are built on one, and which Gerrit would submit along with it, by `gerrit query --dependencies`. */
import type { GerritCarried } from '../carrier.ts';
import { type JsonMapping, mappingsOf, textOf, wholeOf } from '../info-json.ts';
import { queriedChange } from './queried-change.ts';
import { queryChange, served } from './read-queried.ts';
import { runQuery } from './run-query.ts';
import type { SshAsked, SshCarrierDeps } from './ssh-asked.ts';

const MOST = 200;

/** `changes/N/revisions/current/related`: those that are built on one of its patch sets. */
export async function listRelated(asked: SshAsked, deps: SshCarrierDeps): Promise<GerritCarried> {
  const found = await queryChange(asked, ['--dependencies'], deps);
  if (found.kind !== 'row') return found;
  const changes = mappingsOf(found.row.neededBy, MOST).flatMap(({ number }): readonly JsonMapping[] =>
    wholeOf(number) === null ? [] : [{ _change_number: wholeOf(number) }],
  );
  return served({ changes }, found);
}

/**
 * `changes/N/submitted_together`: open changes that it is built on directly, for those below them cannot be open without them, and where
 * topics are submitted as a whole the open ones of its topic.
 */
export async function listSubmittedTogether(asked: SshAsked, deps: SshCarrierDeps): Promise<GerritCarried> {
  const found = await queryChange(asked, ['--dependencies', '--current-patch-set'], deps);
  if (found.kind !== 'row') return found;
  const below = mappingsOf(found.row.dependsOn, MOST).flatMap(({ number }) => wholeOf(number) ?? []);
  const topic = deps.submitsWholeTopic ? textOf(found.row.topic, 1_000) : null;
  const terms = [
    ...below.map(number => `change:${number}`),
    ...(topic === null || topic === '' ? [] : [`topic:"${topic.replaceAll(/["\\]/g, '')}"`]),
  ];
  if (terms.length === 0) return served({ changes: [], non_visible_changes: 0 }, found);
  const open = await runQuery(
    { text: `status:open (${terms.join(' OR ')}) limit:${MOST}`, options: [] },
    { session: deps.session, deadlineMs: deps.deadlinesMs.read },
    asked.signal,
  );
  if (open.kind !== 'rows') return open;
  const changes = open.rows.map(row => queriedChange(row, deps.username));
  return served({ changes, non_visible_changes: 0 }, open);
}
