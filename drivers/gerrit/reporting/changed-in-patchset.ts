/** The files of a patch set on which Gerrit takes comments. */
import { isMapping } from '../../../src/driver/read-mapping.ts';
import type { ProposedChange } from '../../../src/model/change.ts';
import type { GerritAnswer } from '../api/port.ts';
import { type ReviewCalls, revisionPath } from './report-context.ts';

/** Paths that the patch set changes and still has; null: Gerrit does not show them. */
export async function readPatchsetFiles(
  change: ProposedChange,
  { api, call }: Pick<ReviewCalls, 'api' | 'call'>,
): Promise<GerritAnswer<ReadonlySet<string> | null>> {
  const answer = await api.ask(
    { operation: 'changes/files', method: 'GET', path: `${revisionPath(change)}/files` },
    call,
  );
  if (answer.kind === 'refused') return { kind: 'ok', status: answer.status, data: null };
  if (answer.kind !== 'ok') return answer;
  if (!isMapping(answer.data)) return { ...answer, data: null };
  const paths = Object.entries(answer.data).flatMap(([path, file]) =>
    isMapping(file) && file.status === 'D' ? [] : [path],
  );
  return { ...answer, data: new Set(paths) };
}
