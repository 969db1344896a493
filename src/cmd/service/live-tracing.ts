/** Tracing as the settings have it, for all components of a process. */
import type { Uuid } from '../../lib/ids.ts';
import type { QueueItem } from '../../model/queue-item.ts';
import { buildPage, itemPage } from '../../scheduler/pages.ts';
import type { Settings } from '../../settings/settings.ts';
import type { LiveTracing } from '../../tracing/live-tracing.ts';
import { isSampled } from '../../tracing/sampling.ts';
import type { SpanOptions } from '../../tracing/spans/span-options.ts';

export function liveTracing(settings: Settings, root: () => string): LiveTracing {
  const { tracing } = settings;
  const spans = spanOptions(settings, root);
  return {
    spans: () => spans,
    isSampled: event => tracing.kind === 'on' && isSampled(event, tracing.sampleRatio),
  };
}

function spanOptions({ tracing, connections }: Settings, root: () => string): SpanOptions | undefined {
  if (tracing.kind === 'off') return undefined;
  return {
    names: tracing.spanNames,
    urls: {
      item: (item: QueueItem) => itemPage(root(), item.tenant, item.uuid),
      build: (item: QueueItem, build: Uuid) => buildPage(root(), item.tenant, build),
    },
    providers: new Map(connections.map(each => [each.connection, each.driver])),
  };
}
