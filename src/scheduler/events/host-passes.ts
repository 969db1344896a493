/** What a listener needs of the store beside its events: which items are live, and the trace of its passes. */
import { hostSteps } from '../../driver/host-steps.ts';
import type { ItemPlace, Watch } from '../../driver/intake.ts';
import type { IdMaker } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import type { HostPass } from '../../model/host-pass.ts';
import type { ConnectionName } from '../../model/project.ts';
import type { Fence } from '../../store/fence.ts';
import type { StorePaths } from '../../store/paths.ts';
import type { Store } from '../../store/port.ts';
import type { LiveTracing } from '../../tracing/live-tracing.ts';
import { hostSweepSpans } from '../../tracing/spans/host-sweep-spans.ts';
import { traceRows } from '../care/trace-rows.ts';

interface HostPassDeps {
  readonly connection: { readonly name: ConnectionName };
  readonly store: Pick<Store, 'get'>;
  readonly paths: StorePaths;
  readonly ids: IdMaker;
  readonly log: Log;
  readonly tracing: Pick<LiveTracing, 'spans' | 'isSampled'>;
}

/** @param fence of the connection: a pass of a process that lost it leaves no trace. */
export function hostPasses(deps: HostPassDeps, fence: Fence): Pick<Watch, 'isLive' | 'passed'> {
  const { store, paths, ids, log, connection } = deps;
  return {
    isLive: async ({ tenant, pipeline, item }: ItemPlace) =>
      (await store.get(paths.pipeline(tenant, pipeline).item(item))) !== undefined,
    async passed(pass) {
      const rows = rowsOf(pass, deps);
      if (rows.length === 0) return;
      try {
        await fence.commit(rows, ids.uuid());
      } catch (error) {
        log.warn({ connection: connection.name, error }, 'the trace of a pass over a code host is lost');
      }
    },
  };
}

function rowsOf(pass: HostPass, { connection, ids, paths, tracing }: HostPassDeps) {
  const style = tracing.spans();
  const uuid = ids.uuid();
  if (style === undefined || !tracing.isSampled(uuid)) return [];
  const facts = { ...pass, pass: uuid, connection: connection.name, steps: hostSteps(pass.steps) };
  return traceRows(paths, hostSweepSpans(facts, style), pass.endedAt);
}
