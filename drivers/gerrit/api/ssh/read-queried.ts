/** Reads of changes, by `gerrit query`. A change that is not shown is refused with 404, as REST does. */
import { isMapping } from '../../../../src/driver/read-mapping.ts';
import type { Json } from '../../../../src/model/job.ts';
import type { GerritCarried } from '../carrier.ts';
import { type JsonMapping, mappingsOf } from '../info-json.ts';
import type { GerritRaw } from '../send.ts';
import { queriedChange, queriedMessages } from './queried-change.ts';
import { runQuery, type SshRows } from './run-query.ts';
import type { SshAsked, SshCarrierDeps } from './ssh-asked.ts';
import { refusedOverSsh } from './ssh-refused.ts';

/** All that a reading of a change takes. */
const READING = [
  '--current-patch-set',
  '--commit-message',
  '--comments',
  '--submit-records',
  '--all-reviewers',
] as const;

/** `changes/?q=…&n=…&S=…`; with `o=MESSAGES` whole readings, with `o=ALL_REVISIONS` patch sets, else what identifies a change. */
export async function listQueried({ query, signal }: SshAsked, deps: SshCarrierDeps): Promise<GerritCarried> {
  const wanted = query.getAll('o');
  const start = query.get('S');
  const limit = query.get('n');
  const text = query.get('q') ?? 'status:open';
  const options = [
    ...(wanted.includes('MESSAGES') ? READING : []),
    ...(wanted.includes('ALL_REVISIONS') ? ['--patch-sets', '--current-patch-set'] : []),
    ...(start === null ? [] : ['--start', start]),
  ];
  const found = await runQuery(
    { text: limit === null ? text : `(${text}) limit:${limit}`, options },
    { session: deps.session, deadlineMs: deps.deadlinesMs.read },
    signal,
  );
  if (found.kind !== 'rows') return found;
  found.rows.forEach(deps.patchsets.note);
  const changes = found.rows.map(row => queriedChange(row, deps.username));
  const last = changes.at(-1);
  const data =
    found.hasMore && last !== undefined ? changes.with(-1, { ...last, _more_changes: true }) : changes;
  return served(data, found);
}

/** `changes/N/detail` */
export async function readQueried(asked: SshAsked, deps: SshCarrierDeps): Promise<GerritCarried> {
  const found = await queryChange(asked, READING, deps);
  return found.kind === 'row' ? served(queriedChange(found.row, deps.username), found) : found;
}

/** `changes/N/messages` */
export async function listQueriedMessages(asked: SshAsked, deps: SshCarrierDeps): Promise<GerritCarried> {
  const found = await queryChange(asked, ['--comments'], deps);
  return found.kind === 'row' ? served(queriedMessages(found.row, deps.username), found) : found;
}

/** `changes/N/revisions/COMMIT/files`, on which comments can be written: over SSH none. */
export function listPatchsetFiles(): GerritCarried {
  return served({}, { bytes: 0 });
}

const PATCHSET_LEVEL = '/PATCHSET_LEVEL';

/**
 * `changes/N/comments`, those on patch sets as a whole. SSH does not say with which message a comment came: the last ones of a person
 * belong to that person's last messages, one to each.
 */
export async function listPatchsetComments(asked: SshAsked, deps: SshCarrierDeps): Promise<GerritCarried> {
  const found = await queryChange(asked, ['--comments', '--patch-sets'], deps);
  if (found.kind !== 'row') return found;
  const messages = queriedMessages(found.row, deps.username).filter(
    ({ message }) => typeof message === 'string' && /^\(\d+ comments?\)$/m.test(message),
  );
  const comments = mappingsOf(found.row.patchSets, 10_000).flatMap(patchset => {
    const listed = mappingsOf(patchset.comments, 10_000).filter(({ file }) => file === PATCHSET_LEVEL);
    const people = Map.groupBy(listed, ({ reviewer }) => nameOf(reviewer));
    return [...people].flatMap(([name, theirs]) => {
      const own = messages.filter(
        each => each._revision_number === patchset.number && nameOf(each.author) === name,
      );
      return theirs.flatMap(({ message }, index): readonly JsonMapping[] => {
        const belongsTo = own.at(index - theirs.length);
        return belongsTo?.id === undefined || message === undefined
          ? []
          : [{ change_message_id: belongsTo.id, message }];
      });
    });
  });
  return served({ [PATCHSET_LEVEL]: comments }, found);
}

function nameOf(account: Json | undefined): Json {
  return isMapping(account) ? (account.username ?? account.email ?? account.name ?? null) : null;
}

/** The one change that a path names. */
export async function queryChange(
  { parts, signal }: Pick<SshAsked, 'parts' | 'signal'>,
  options: readonly string[],
  { session, deadlinesMs, patchsets }: Pick<SshCarrierDeps, 'session' | 'deadlinesMs' | 'patchsets'>,
): Promise<{ readonly kind: 'row'; readonly row: JsonMapping; readonly bytes: number } | GerritRaw> {
  const [number = ''] = parts;
  if (!/^\d{1,15}$/.test(number)) return refusedOverSsh(404, `Not found: ${number}`);
  const found: SshRows = await runQuery(
    { text: `change:${number}`, options },
    { session, deadlineMs: deadlinesMs.read },
    signal,
  );
  if (found.kind !== 'rows') return found;
  const [row] = found.rows;
  if (row === undefined) return refusedOverSsh(404, `Not found: ${number}`);
  patchsets.note(row);
  return { kind: 'row', row, bytes: found.bytes };
}

export function served(data: Json, { bytes }: { readonly bytes: number }): GerritCarried {
  return { kind: 'served', status: 200, data, bytes };
}
