/** The open changes of a project, a page at a time, by their numbers alone. */
import { isMapping } from '../../../src/driver/read-mapping.ts';
import type { FoundChanges } from '../../../src/driver/source.ts';
import { type ChangeKey, changeKey } from '../../../src/model/change.ts';
import type { Json } from '../../../src/model/job.ts';
import { type ConnectionName, projectKey } from '../../../src/model/project.ts';
import { mappingsOf, textOf, wholeOf } from '../api/info-json.ts';
import type { GerritAnswer, GerritApi, GerritCall } from '../api/port.ts';

/** What Gerrit gives at most in one answer, unless its administrator allows more. */
const PAGE = 500;

/** @param call about the project. */
export async function openChangesOfGerrit(
  most: number,
  call: GerritCall,
  { api, connection }: { readonly api: GerritApi; readonly connection: ConnectionName },
): Promise<GerritAnswer<FoundChanges>> {
  const query = encodeURIComponent(`status:open project:"${call.project.replaceAll('"', '')}"`);
  // A change that is updated meanwhile comes again, as the first one.
  const changes = new Set<ChangeKey>();
  for (let start = 0; ; start += PAGE) {
    const path = `changes/?q=${query}&n=${PAGE}${start === 0 ? '' : `&S=${start}`}`;
    const answer = await api.ask({ operation: 'changes/query', method: 'GET', path }, call);
    if (answer.kind !== 'ok') return answer;
    for (const key of listedOpenChanges(answer.data, PAGE, connection)) changes.add(key);
    const hasMore = isCutShort(answer.data);
    if (!hasMore || changes.size >= most || start >= most)
      return {
        ...answer,
        data: { changes: [...changes].slice(0, most), isMore: hasMore || changes.size > most },
      };
  }
}

/** From an answer to a query for changes. */
export function listedOpenChanges(
  data: Json,
  most: number,
  connection: ConnectionName,
): readonly ChangeKey[] {
  return mappingsOf(data, most).flatMap((info): readonly ChangeKey[] => {
    const number = wholeOf(info._number);
    const name = textOf(info.project, 500);
    if (number === null || name === null || info.status !== 'NEW') return [];
    return [changeKey(projectKey({ connection, name }), String(number))];
  });
}

function isCutShort(data: Json): boolean {
  const last = Array.isArray(data) ? data.at(-1) : undefined;
  return isMapping(last) && last._more_changes === true;
}
