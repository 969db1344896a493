/** Hosts of jobs for the web: what the store says when it is asked, and what operators do with them. */
import type { Clock, Nanoseconds } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { buildRequestCodec } from '../../model/codec/records.ts';
import { type ExecutorZone, reachesZone } from '../../model/executor-zone.ts';
import { type HostState, somethingOf, withLeftover } from '../../model/static-host.ts';
import { changeHostState } from '../../nodes/host-state.ts';
import { readHosts } from '../../nodes/host-table.ts';
import { zoneRows } from '../../nodes/zone-rows.ts';
import type { RegisteredComponent } from '../../store/component-view.ts';
import { hostRequests } from '../../store/host-requests.ts';
import type { StorePaths } from '../../store/paths.ts';
import type { Store } from '../../store/port.ts';
import { RequestQueue } from '../../store/request-queue.ts';
import type { WebDeps } from '../../web/deps.ts';

interface NodeViewDeps {
  readonly paths: StorePaths;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Pick<Log, 'warn'>;
  /** As they are registered. */
  readonly components: () => readonly (ExecutorZone & Pick<RegisteredComponent, 'kind'>)[];
}

/** What a failed build left there, which was kept, is removed when the host is released. */
function heldByPerson(state: HostState | undefined, reason: string, since: Nanoseconds): HostState {
  const kept = state?.held?.request;
  const cleaned = kept === undefined ? state : withLeftover(state, kept.build, since);
  return { ...cleaned, held: { reason, since } };
}

/** @param store over all sessions. */
export function nodeView(deps: NodeViewDeps, store: Store): Pick<WebDeps, 'nodes' | 'holdNode'> {
  const { paths, clock, log, components } = deps;
  const executors = () => components().filter(({ kind }) => kind === 'executor');
  const adjusted = zoneRows(
    zone => executors().length === 0 || executors().some(executor => reachesZone(executor, zone)),
    clock.now,
  );
  const queue = new RequestQueue({ store, path: paths.requests('build'), codec: buildRequestCodec });
  const requests = hostRequests(queue);
  return {
    async nodes() {
      const rows = await readHosts(store, paths, error =>
        log.warn({ error: String(error) }, 'a host could not be read'),
      );
      const { waiting, granted } = await requests.read();
      const builds = granted.flatMap(({ uuid, wanted, grant }) =>
        grant.hosts.map(({ host }) => ({ host, build: { uuid, tenant: wanted.tenant } })),
      );
      const byHost = Map.groupBy(builds, ({ host }) => host);
      return {
        hosts: adjusted(rows).map(row => ({
          ...row,
          builds: (byHost.get(row.host.name) ?? []).map(each => each.build),
        })),
        requests: [...granted, ...waiting.map(({ uuid, wanted }) => ({ uuid, wanted }))],
      };
    },
    async holdNode(node, reason) {
      if (node === '' || !node.isWellFormed()) return 'gone';
      const [host, pool] = await store.getMany([paths.staticHost(node), paths.nodePool(node)]);
      if (host === undefined && pool === undefined) return 'gone';
      await changeHostState({ store, paths }, node, state => {
        if (reason !== undefined) return heldByPerson(state, reason, clock.now());
        if (state?.held === undefined) return state;
        const { held, ...rest } = state;
        if (held.request !== undefined) return withLeftover(rest, held.request.build, clock.now());
        return somethingOf(rest);
      });
      return 'done';
    },
  };
}
