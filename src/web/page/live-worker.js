/** The shared worker that holds the live streams of all tabs of a browser: see shared-streams.js. */
import { SharedStreams } from './shared-streams.js';
import { TenantStream } from './tenant-stream.js';

const streams = new SharedStreams((tenant, listener) => new TenantStream(tenant, listener));

globalThis.addEventListener('connect', ({ ports: [port] }) => {
  if (typeof EventSource === 'undefined') {
    port.postMessage({ kind: 'unable' });
    return;
  }
  const heard = streams.join(message => port.postMessage(message));
  port.addEventListener('message', ({ data }) => heard(data));
  port.start();
});
