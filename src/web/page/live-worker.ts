/** The shared worker that holds the live streams of all tabs of a browser: see shared-streams.ts. */
import type { TabMessage } from './messages.ts';
import { SharedStreams } from './shared-streams.ts';
import { TenantStream } from './tenant-stream.ts';

const streams = new SharedStreams((tenant, listener) => new TenantStream(tenant, listener));

globalThis.addEventListener('connect', event => {
  const port = event instanceof MessageEvent ? event.ports[0] : undefined;
  if (port === undefined) return;
  if (typeof EventSource === 'undefined') {
    port.postMessage({ kind: 'unable' });
    return;
  }
  const heard = streams.join(message => port.postMessage(message));
  port.addEventListener('message', ({ data }: MessageEvent<TabMessage>) => heard(data));
  port.start();
});
