/**
 * Where a tab gets the messages of a tenant from: the shared worker, or, in a browser that has none, a stream of its own. Either way only
 * while the tab can be seen.
 */
import type { StreamMessage, TabMessage, Take } from './messages.ts';
import { SharedStreams, SILENT_MS } from './shared-streams.ts';
import { TenantStream } from './tenant-stream.ts';

/** The worker's language: raise it when messages change, or tabs of two releases would meet in one worker. */
const NAME = 'gatehouse-live-1';

/** @returns how to stop. */
export function openFeed(tenant: string, take: Take): () => void {
  if (typeof SharedWorker === 'undefined') return ownFeed(tenant, take);
  let stop: () => void = () => {};
  const goAlone = () => {
    stop();
    stop = ownFeed(tenant, take);
  };
  const worker = new SharedWorker(new URL('live-worker.ts', import.meta.url), { type: 'module', name: NAME });
  worker.addEventListener('error', goAlone);
  worker.port.addEventListener(
    'message',
    ({ data }: MessageEvent<StreamMessage | { readonly kind: 'unable' }>) =>
      data.kind === 'unable' ? goAlone() : take(data),
  );
  worker.port.start();
  const leave = tellVisibility(tenant, message => worker.port.postMessage(message));
  stop = () => {
    leave();
    worker.port.close();
  };
  return () => stop();
}

function ownFeed(tenant: string, take: Take): () => void {
  const streams = new SharedStreams((name, listener) => new TenantStream(name, listener));
  return tellVisibility(tenant, streams.join(take));
}

/** Says what a tab has to say for as long as it is there. @returns how to stop. */
function tellVisibility(tenant: string, say: (message: TabMessage) => void): () => void {
  const sayVisibility = () => say({ kind: document.hidden ? 'hidden' : 'seen' });
  const begin = () => {
    say({ kind: 'follow', tenant });
    sayVisibility();
  };
  const leave = () => say({ kind: 'leave' });
  // The browser may show a page again that it had put away.
  const comeBack = (event: PageTransitionEvent) => event.persisted && begin();
  const beat = setInterval(() => document.hidden || sayVisibility(), SILENT_MS / 3);
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
