/** What operators may ask of the scheduler over the web: each is stored, and a turn decides. */
import type { Store } from '../../store/port.ts';
import type { WebDeps } from '../../web/deps.ts';
import { actCosts } from './act-costs.ts';
import { storeEnqueue } from './enqueue-request.ts';
import { type RequestCore, storeDequeue, storeHalt, storePromote, storeRerun } from './operator-requests.ts';

/** @param store over all sessions. @param snapshot of a tenant, as the web shows it. */
export function operatorActs(
  core: RequestCore,
  store: Store,
  snapshot: WebDeps['snapshot'],
): Pick<WebDeps, 'enqueue' | 'dequeue' | 'halt' | 'rerun' | 'promote' | 'costOf'> {
  return {
    costOf: actCosts(core, store, snapshot),
    enqueue: request => storeEnqueue(core, store, request),
    dequeue: request => storeDequeue(core, store, request),
    halt: request => storeHalt(core, store, request),
    rerun: request => storeRerun(core, store, request),
    promote: request => storePromote(core, store, request),
  };
}
