/**
 * Source of a tab's messages about a tenant: the shared worker, or a stream of its own in a tab that is signed in and in a browser without shared workers; in all cases
 * only while the tab is visible or shows notifications.
 */
import type { StreamMessage, TabMessage, Take } from './messages.ts';
import { areOn } from './notices-on.ts';
import { sessionToken } from './session.ts';
import { SharedStreams, SILENT_MS } from './shared-streams.ts';
import { TenantStream } from './tenant-stream.ts';

/** Version of the messages: raise it when they change, or tabs of two releases would share a worker. */
const NAME = 'gatehouse-live-2';

/** @returns a function that stops it. */
export function openFeed(tenant: string, take: Take): () => void {
  // What one tab may read is not for the others.
  if (typeof SharedWorker === 'undefined' || sessionToken() !== undefined) return ownFeed(tenant, take);
  let stop: () => void = () => {};
  const goAlone = () => {
    stop();
    stop = ownFeed(tenant, take);
  };
  const worker = new SharedWorker(new URL('live-worker.js', import.meta.url), { type: 'module', name: NAME });
  worker.addEventListener('error', goAlone);
  worker.port.addEventListener(
    'message',
    ({ data }: MessageEvent<StreamMessage | { readonly kind: 'unable' }>) =>
      data.kind === 'unable' ? goAlone() : take(data),
  );
  worker.port.start();
  const leave = reportVisibility(tenant, message => worker.port.postMessage(message));
  stop = () => {
    leave();
    worker.port.close();
  };
  return () => stop();
}

function ownFeed(tenant: string, take: Take): () => void {
  const streams = new SharedStreams((name, listener) => new TenantStream(name, listener));
  return reportVisibility(tenant, streams.join(take));
}

/** Reports the tab's tenant and visibility until stopped. @returns a function that stops it. */
function reportVisibility(tenant: string, say: (message: TabMessage) => void): () => void {
  const sayVisibility = () => say({ kind: !document.hidden ? 'seen' : areOn() ? 'awake' : 'hidden' });
  const begin = () => {
    say({ kind: 'follow', tenant });
    sayVisibility();
  };
  const leave = () => say({ kind: 'leave' });
  // The browser may restore a page from its back/forward cache.
  const comeBack = (event: PageTransitionEvent) => event.persisted && begin();
  const beat = setInterval(() => (document.hidden && !areOn()) || sayVisibility(), SILENT_MS / 3);
  document.addEventListener('visibilitychange', sayVisibility);
  window.addEventListener('pagehide', leave);
  window.addEventListener('pageshow', comeBack);
  begin();
  return () => {
    clearInterval(beat);
    document.removeEventListener('visibilitychange', sayVisibility);
    window.removeEventListener('pagehide', leave);
    window.removeEventListener('pageshow', comeBack);
    leave();
  };
}
