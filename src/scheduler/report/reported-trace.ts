import type { QueueItem } from '../../model/queue-item.ts';
import { isLoopback } from '../../settings/loopback.ts';
import { traceAddress } from '../../tracing/trace-links.ts';
import type { TraceUi } from '../../tracing/ui-url.ts';

/**
 * Where readers of a report find the item's trace; null where there is none, and where the link would lead each of them to their
 * own machine (the default `ui_url` of a service that others reach).
 *
 * @param root public URL of the service.
 */
export function reportedTrace(viewer: TraceUi | null, root: string, item: QueueItem): string | null {
  const address = traceAddress(viewer, item);
  return address === null || (isLocal(address) && !isLocal(root)) ? null : address;
}

function isLocal(address: string): boolean {
  return isLoopback(URL.parse(address)?.hostname.replace(/^\[|\]$/g, '') ?? '');
}
