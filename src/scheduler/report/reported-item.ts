/** What a message says of an item beyond its report. */
import type { Uuid } from '../../lib/ids.ts';
import { type Build, endOfBuild, resultOf, startOfBuild } from '../../model/build.ts';
import { currentBuild, graphOf } from '../../model/build-set.ts';
import type { JobNode, Variables } from '../../model/job.ts';
import { buildLog, buildPage } from '../../model/page-addresses.ts';
import type { QueueItem } from '../../model/queue-item.ts';
import type { ReportedBuild, ReportedItem } from '../../model/report.ts';
import type { Returned } from '../../model/returned.ts';

/** Characters of JSON that builds of one message returned, in all: what comes after them is left out. */
const MOST_DATA = 262_144;

/** @param item as it is when the report is requested. @param withData with what its builds returned. */
export function reportedItem(
  item: QueueItem,
  { root }: { readonly root: string },
  withData: boolean,
): ReportedItem {
  const { origin, enqueuedAt, buildset, tenant } = item;
  const place = { root, tenant, data: withData ? dataWithin(buildset.builds, MOST_DATA) : NO_DATA };
  const nodes = graphOf(buildset)?.jobs ?? [];
  return {
    event: origin.event,
    receivedAt: origin.receivedAt,
    enqueuedAt,
    buildset: buildset.uuid,
    builds: nodes.map(node => {
      const build = currentBuild(buildset, node.name);
      return build === undefined ? withoutBuild(node) : reportedBuild(node, build, place);
    }),
    retried: nodes.flatMap(node =>
      buildset.builds
        .filter(build => build.job === node.name && build !== currentBuild(buildset, node.name))
        .map(build => reportedBuild(node, build, place)),
    ),
  };
}

interface Place {
  readonly root: string;
  readonly tenant: string;
  /** By build. */
  readonly data: ReadonlyMap<Uuid, Variables>;
}

const NO_DATA: Place['data'] = new Map();

function dataWithin(builds: readonly Build[], most: number): Place['data'] {
  const kept = new Map<Uuid, Variables>();
  let size = 0;
  for (const build of builds) {
    const { data } = returnedBy(build);
    if (data === undefined) continue;
    size += JSON.stringify(data).length;
    if (size > most) break;
    kept.set(build.uuid, data);
  }
  return kept;
}

function returnedBy({ state }: Build): Returned {
  return (state.state === 'completed' && state.returned) || {};
}

function withoutBuild({ name, voting, dependencies }: JobNode): ReportedBuild {
  return {
    ...{ job: name, voting, dependencies: dependencies.map(each => each.name) },
    ...{ uuid: null, result: null, requestedAt: null, startedAt: null, endedAt: null, url: null, log: null },
  };
}

function reportedBuild(
  { name, dependencies }: JobNode,
  build: Build,
  { root, tenant, data }: Place,
): ReportedBuild {
  const { uuid, voting, requestedAt } = build;
  const startedAt = startOfBuild(build);
  const { artifacts = [], logUrl } = returnedBy(build);
  const own = data.get(uuid);
  return {
    ...{ job: name, voting, dependencies: dependencies.map(each => each.name) },
    ...{ uuid, result: resultOf(build) ?? null, requestedAt, startedAt, endedAt: endOfBuild(build) },
    url: buildPage(root, tenant, uuid),
    log: logUrl ?? (startedAt === null ? null : buildLog(root, tenant, uuid)),
    ...(artifacts.length === 0 ? {} : { artifacts }),
    ...(own === undefined ? {} : { data: own }),
  };
}
