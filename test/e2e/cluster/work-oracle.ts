/**
 * Which session may answer for a piece of work, by the server's log: one result per build, and while a session has claimed it,
 * from no other. What a session put up for the time it lives (claims, places in a lock, registrations) only it takes down.
 */
import { pipelineEventCodec } from '../../../src/model/codec/records.ts';
import type { LoggedOperation, LoggedTransaction } from './transaction-log.ts';

/** One sentence per breach. */
export function workProblems(transactions: readonly LoggedTransaction[]): readonly string[] {
  const owners = new Map<string, string>();
  const results = new Map<string, number>();
  const problems: string[] = [];
  for (const { session, kind, operations } of transactions) {
    if (kind === 'session-ends')
      for (const [path, owner] of owners) if (owner === session) owners.delete(path);
    for (const build of operations.flatMap(resultOf)) {
      results.set(build, (results.get(build) ?? 0) + 1);
      const claim = [...owners].find(([path]) => path.endsWith(`/requests/build/default/claimed/${build}`));
      if (claim !== undefined && claim[1] !== session)
        problems.push(`${session} answered for build ${build}, which ${claim[1]} had`);
    }
    for (const operation of operations) {
      const owner = owners.get(operation.path);
      if (operation.kind === 'create' && operation.ephemeral) owners.set(operation.path, session);
      if (operation.kind !== 'delete' || owner === undefined) continue;
      if (owner !== session) problems.push(`${session} removed ${operation.path}, which was ${owner}'s`);
      owners.delete(operation.path);
    }
  }
  for (const [build, times] of results) if (times > 1) problems.push(`build ${build} has ${times} results`);
  return [...problems, ...doubledPlaces(owners)];
}

/** The build whose end a pipeline event reports. */
function resultOf(operation: LoggedOperation): readonly string[] {
  if (operation.kind !== 'create' || !/\/pipelines\/[^/]+\/events\/[^/]+$/.test(operation.path)) return [];
  const event = pipelineEventCodec.decode(operation.data);
  return event.kind === 'build-result' ? [event.build] : [];
}

/** No session stands twice in one line. */
function doubledPlaces(owners: ReadonlyMap<string, string>): readonly string[] {
  const places = [...owners].filter(([path]) => path.includes('-lock-'));
  const byLine = Map.groupBy(places, ([path, owner]) => `${path.slice(0, path.lastIndexOf('/'))} ${owner}`);
  return [...byLine].flatMap(([line, all]) => (all.length > 1 ? [`${all.length} places in ${line}`] : []));
}
