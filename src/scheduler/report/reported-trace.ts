import type { QueueItem } from '../../model/queue-item.ts';
import { isLoopback } from '../../settings/loopback.ts';
import { traceAddress } from '../../tracing/trace-links.ts';
import type { TraceUi } from '../../tracing/ui-url.ts';

/**
 * Address of the item's trace for readers of a report. Null where there is no trace, and where the link would lead readers to their
 * own machine (a local `ui_url` of a service with a public URL).
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
