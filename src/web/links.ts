/** Addresses people follow: pages of this service and of the trace viewer. */
import { spanIdOf, traceIdOf } from '../lib/ids.ts';
import { endOfItem, type QueueItem } from '../model/queue-item.ts';
import { uiUrl } from '../tracing/ui-url.ts';

export function buildPage(root: string, tenant: string, build: string): string {
  return `${root}/t/${encodeURIComponent(tenant)}/build/${build}`;
}

export function itemPage(root: string, tenant: string, item: string): string {
  return `${root}/t/${encodeURIComponent(tenant)}/item/${item}`;
}

export function logAddress(root: string, tenant: string, build: string): string {
  return `${root}/api/tenant/${encodeURIComponent(tenant)}/build/${build}/log`;
}

/**
 * The item's trace in the configured viewer, e.g. Jaeger; null when tracing is off, the item is not sampled, or the
 * template gives no http address.
 */
export function traceAddress(template: string | null, item: QueueItem): string | null {
  if (template === null || !item.sampled) return null;
  const target = {
    traceId: traceIdOf(item.uuid),
    spanId: spanIdOf(item.uuid),
    start: item.enqueuedAt,
    end: endOfItem(item),
  };
  const address = uiUrl(template, target);
  return /^https?:\/\//.test(address) ? address : null;
}
