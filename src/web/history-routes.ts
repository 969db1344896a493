/** The history: builds, buildsets, finished items, decisions. Running builds are also found by uuid. */
import type { Router } from 'express';
import { buildJson, buildsetJson, type LiveBuildFacts } from '../api/builds.ts';
import { finishedItem } from '../api/live-item.ts';
import { QUERIES } from '../api/queries.ts';
import { decisionsDocument } from '../api/service.ts';
import type { BuildFacts } from '../history/build-facts.ts';
import { logsOfBuild } from '../model/page-addresses.ts';
import { buildsetsOf } from '../model/queue-item.ts';
import { buildTraceAddress } from '../tracing/trace-links.ts';
import { jsonAnswer, notFound } from './answer.ts';
import type { WebDeps } from './deps.ts';
import { readFilter } from './history-filter.ts';
import { readQuery } from './query.ts';
import { type FoundTenant, findBuild, findBuildset, findItemOfTenant, inTenant } from './tenant-access.ts';
import { testSums } from './test-results.ts';

/** @param router of a tenant, so that every query is restricted to it. */
export function addHistoryRoutes(router: Router, deps: WebDeps): void {
  const contextOf = (tenant: FoundTenant) => buildContext(deps, tenant);

  router.get(
    '/builds',
    inTenant(deps, async (tenant, { query }) => {
      const context = await contextOf(tenant);
      const read = readFilter(tenant.name, query, 'builds', context.held);
      if (read.kind === 'refused') return read;
      return jsonAnswer((await deps.history.builds(read.filter)).map(build => buildJson(build, context)));
    }),
  );
  router.get(
    '/build/:uuid',
    inTenant(deps, async (tenant, { parameter }) => {
      const build = await findBuild(deps, tenant, parameter('uuid'));
      return build === undefined
        ? notFound(
            `there is no build ${parameter('uuid').slice(0, 64)} in tenant ${tenant.name}`,
            'path: build',
          )
        : jsonAnswer(buildJson(build, await contextOf(tenant), await factsOfBuild(deps, tenant, build)));
    }),
  );
  router.get(
    '/buildsets',
    inTenant(deps, async (tenant, { query }) => {
      const read = readFilter(tenant.name, query, 'buildsets');
      if (read.kind === 'refused') return read;
      return jsonAnswer((await deps.history.buildsets(read.filter)).map(buildset => buildsetJson(buildset)));
    }),
  );
  router.get(
    '/buildset/:uuid',
    inTenant(deps, async (tenant, { parameter }) => {
      const found = await findBuildset(deps, tenant, parameter('uuid'));
      return found === undefined
        ? notFound(
            `there is no buildset ${parameter('uuid').slice(0, 64)} in tenant ${tenant.name}`,
            'path: buildset',
          )
        : jsonAnswer(buildsetJson(found.buildset, { builds: found.builds, ...(await contextOf(tenant)) }));
    }),
  );
  router.get(
    '/items',
    inTenant(deps, async (tenant, request) => {
      const query = readQuery(request.query, QUERIES.items);
      if (query.kind === 'refused') return query;
      const { limit, skip } = query.values;
      const items = await deps.history.recentItems({ tenant: tenant.name, limit, skip });
      return jsonAnswer(items.map(({ item }) => finishedItem(item)));
    }),
  );
  addDecisionsRoute(router, deps);
}

function addDecisionsRoute(router: Router, deps: WebDeps): void {
  router.get(
    '/changes/*change/decisions',
    inTenant(deps, async (tenant, request) => {
      const query = readQuery(request.query, QUERIES.decisions);
      if (query.kind === 'refused') return query;
      const { project, limit } = query.values;
      const change = request.parameter('change');
      const decisions = await deps.history.decisions({
        tenant: tenant.name,
        change,
        limit,
        ...(project === undefined ? {} : { project }),
      });
      return jsonAnswer(decisionsDocument(change, decisions));
    }),
  );
}

/** The history is there without the store, which knows the held hosts: then none are shown as held. */
async function buildContext(deps: WebDeps, { name }: FoundTenant): Promise<LiveBuildFacts> {
  const holds = deps.contact().kind === 'away' ? [] : await deps.holds(name);
  return {
    logUrl: (tenant, build) => logsOfBuild(deps.root(), tenant, build),
    held: new Set(holds.flatMap(({ hold }) => hold.held.map(({ build }) => build))),
  };
}

/** What is shown of one build, but not in lists. */
async function factsOfBuild(deps: WebDeps, tenant: FoundTenant, build: BuildFacts) {
  const [traceUrl, tests] = [await traceOfBuild(deps, tenant, build), await testSums(deps, tenant, build)];
  return { trace_url: traceUrl, tests };
}

/** Link to the build's span. Its item knows which trace that is in. */
async function traceOfBuild(
  deps: WebDeps,
  tenant: FoundTenant,
  { uuid, buildset }: BuildFacts,
): Promise<string | null> {
  const found = await findItemOfTenant(deps, tenant, buildset.item);
  if (found.kind === 'refused') return null;
  const build = buildsetsOf(found.item)
    .flatMap(({ builds }) => builds)
    .find(each => each.uuid === uuid);
  return build === undefined ? null : buildTraceAddress(deps.traceUi(), found.item, build);
}
