/** `…/changes/<change>/checks`: read by Gerrit's Checks tab, from every open tab of a change page, again and again. */
import type { Router } from 'express';
import { changeChecks } from '../api/change-checks.ts';
import { QUERIES } from '../api/queries.ts';
import type { Change } from '../model/change.ts';
import { projectIdOf, projectKey } from '../model/project.ts';
import type { QueueItem } from '../model/queue-item.ts';
import { badRequest, jsonAnswer } from './answer.ts';
import type { WebDeps } from './deps.ts';
import type { ExpectedJobDurations } from './expected-durations.ts';
import { readQuery } from './query.ts';
import { type FoundTenant, inTenant, liveItems } from './tenant-access.ts';

/** Finished items shown, the newest; each may have many builds. */
const MOST_ITEMS = 20;

/** What is asked for. */
interface Asked {
  readonly change: string;
  readonly project: string;
  readonly connection: string | undefined;
  readonly patchset: string | undefined;
}

/** @param router of a tenant. @param expected for the estimated ends of running builds. */
export function addChecksRoute(router: Router, deps: WebDeps, expected: ExpectedJobDurations): void {
  router.get(
    '/changes/*change/checks',
    inTenant(deps, async (tenant, request) => {
      const query = readQuery(request.query, QUERIES.checks);
      if (query.kind === 'refused') return query;
      const { project, connection, patchset } = query.values;
      if (project === undefined)
        return badRequest('project: name the project of the change', 'query parameter project');
      const asked = { change: request.parameter('change'), project, connection, patchset };
      const isAsked = matcher(asked);
      const live = liveItems(tenant.snapshot)
        .filter(item => item.changes.some(isAsked))
        .toArray();
      const gone = await finished(deps, tenant, asked, isAsked);
      const usual = new Map<string, ReadonlyMap<string, number>>();
      for (const item of live) usual.set(item.uuid, await expected.of(item));
      // An item that left while this was read is in both; the finished one is newer.
      const items = new Map([...live, ...gone].map(item => [item.uuid, item]));
      return jsonAnswer(
        changeChecks([...items.values()], gone.length >= MOST_ITEMS, {
          root: deps.root(),
          traceUi: deps.traceUi(),
          isAsked,
          usual: item => usual.get(item.uuid) ?? new Map(),
        }),
      );
    }),
  );
}

function matcher({ change, project, connection, patchset }: Asked): (candidate: Change) => boolean {
  return candidate => {
    if (candidate.kind !== 'change' || candidate.id !== change) return false;
    const of = projectIdOf(candidate.project);
    return (
      of.name === project &&
      (connection === undefined || of.connection === connection) &&
      (patchset === undefined || candidate.patchset === patchset)
    );
  };
}

/** In the order in which items move, so that none is missed: outbox, then history. */
async function finished(
  { history, leavingItems }: Pick<WebDeps, 'history' | 'leavingItems'>,
  tenant: FoundTenant,
  { change, project, connection, patchset }: Asked,
  isAsked: (candidate: Change) => boolean,
): Promise<readonly QueueItem[]> {
  const leaving = await leavingItems?.(item => item.tenant === tenant.name && item.changes.some(isAsked));
  const recorded = await history.itemsOfChange({
    tenant: tenant.name,
    project,
    change,
    limit: MOST_ITEMS,
    ...(connection === undefined ? {} : { projectKey: projectKey({ connection, name: project }) }),
    ...(patchset === undefined ? {} : { patchset }),
  });
  return [...(leaving ?? []), ...recorded];
}
