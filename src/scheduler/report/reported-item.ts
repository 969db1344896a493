/** What a message says of an item beyond its report. */
import { type Build, endOfBuild, resultOf, startOfBuild } from '../../model/build.ts';
import { currentBuild, graphOf } from '../../model/build-set.ts';
import type { JobNode } from '../../model/job.ts';
import { buildLog, buildPage } from '../../model/page-addresses.ts';
import type { QueueItem } from '../../model/queue-item.ts';
import type { ReportedBuild, ReportedItem } from '../../model/report.ts';

/** @param item as it is when the report is requested. */
export function reportedItem(item: QueueItem, { root }: { readonly root: string }): ReportedItem {
  const { origin, enqueuedAt, buildset, tenant } = item;
  const place = { root, tenant };
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

function withoutBuild({ name, voting, dependencies }: JobNode): ReportedBuild {
  return {
    ...{ job: name, voting, dependencies: dependencies.map(each => each.name) },
    ...{ uuid: null, result: null, requestedAt: null, startedAt: null, endedAt: null, url: null, log: null },
  };
}

function reportedBuild(
  { name, dependencies }: JobNode,
  build: Build,
  { root, tenant }: { readonly root: string; readonly tenant: string },
): ReportedBuild {
  const { uuid, voting, requestedAt } = build;
  const startedAt = startOfBuild(build);
  const { artifacts = [], logUrl } = (build.state.state === 'completed' && build.state.returned) || {};
  return {
    ...{ job: name, voting, dependencies: dependencies.map(each => each.name) },
    ...{ uuid, result: resultOf(build) ?? null, requestedAt, startedAt, endedAt: endOfBuild(build) },
    url: buildPage(root, tenant, uuid),
    log: logUrl ?? (startedAt === null ? null : buildLog(root, tenant, uuid)),
    ...(artifacts.length === 0 ? {} : { artifacts }),
  };
}
