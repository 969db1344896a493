/** A reading of a change → its record: the changes that it is built on and those that its footers name are asked for. */
import type { Nanoseconds } from '../../../src/lib/clock.ts';
import { type ProjectKey, projectIdOf } from '../../../src/model/project.ts';
import type { ChangeInfo } from '../api/change-info.ts';
import type { GerritAnswer, GerritCall } from '../api/port.ts';
import type { ParentFact } from '../facts.ts';
import { type GerritChangeRecord, gerritChangeRecord } from './change-record.ts';
import { gerritDependsOn } from './depends-on-footers.ts';
import { resolveChangeIds } from './legacy-change-ids.ts';
import type { GerritReadingDeps } from './processing.ts';

/** What a record is made of. */
interface RecordSource {
  readonly project: ProjectKey;
  readonly info: ChangeInfo;
  readonly readAt: Nanoseconds;
  /** Where the target branch is known to be: a parent there has merged. */
  readonly tip: string | undefined;
  /** Those any tenant has; undefined: not known yet. */
  readonly projects: ReadonlySet<ProjectKey> | undefined;
}

/** A closed change is asked nothing more about. */
export async function readChangeRecord(
  source: RecordSource,
  call: GerritCall,
  deps: GerritReadingDeps,
): Promise<GerritAnswer<GerritChangeRecord>> {
  const { project, info, readAt, projects } = source;
  const beside = { project, baseUrl: deps.baseUrl, readAt, submitsTopics: false };
  if (info.status !== 'NEW') {
    const closed = gerritChangeRecord(info, { ...beside, parents: [], named: [], lines: [] });
    return { kind: 'ok', status: 200, data: closed };
  }
  const parents = await parentsOf(source, call, deps);
  if (parents.kind !== 'ok') return parents;
  const whole = info.topic === null ? NO_TOPIC : await deps.reader.submitsTopics(call);
  if (whole.kind !== 'ok') return whole;
  const footers = await resolveChangeIds(gerritDependsOn(info.revision.message), projects, call, deps);
  if (footers.kind !== 'ok') return footers;
  return {
    kind: 'ok',
    status: 200,
    data: gerritChangeRecord(info, {
      ...beside,
      ...{ submitsTopics: whole.data, parents: parents.data },
      ...footers.data,
    }),
  };
}

const NO_TOPIC = { kind: 'ok', status: 200, data: false } as const;

/** Open and abandoned ones: a change that is built on an abandoned one cannot land either. */
async function parentsOf(
  { project, info, tip }: RecordSource,
  call: GerritCall,
  { reader }: GerritReadingDeps,
): Promise<GerritAnswer<readonly ParentFact[]>> {
  const commits = info.revision.parents.filter(commit => commit !== tip);
  if (commits.length === 0) return { kind: 'ok', status: 200, data: [] };
  const answer = await reader.patchsetsOf(commits, call);
  if (answer.kind !== 'ok') return answer;
  const { name } = projectIdOf(project);
  const parents = commits.flatMap((commit): readonly ParentFact[] => {
    const place = answer.data.get(commit);
    if (place === undefined || place.project !== name || place.status === 'MERGED') return [];
    if (place.number === info.number) return [];
    const { number, patchset, currentPatchset, status } = place;
    return [{ number, patchset, currentPatchset, status }];
  });
  return { ...answer, data: parents };
}
