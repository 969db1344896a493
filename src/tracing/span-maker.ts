/**
 * The component and the machine that did the work of a span. Read from the span alone, so that a span that is sent again, by another
 * process or from the history, has the same resource.
 */
import type { SpanRecord } from '../model/span.ts';
import type { SpanKind } from './allowed-attributes.ts';
import { ATTRIBUTE } from './attributes.ts';

/** Components that make spans. With a service per component each gives a `service.name`, e.g. `gatehouse-merger`. */
export const COMPONENTS = ['scheduler', 'merger', 'executor', 'web'] as const;
type Component = (typeof COMPONENTS)[number];

/** Which process a span's resource describes; not which one sends it. */
export interface SpanMaker {
  readonly component: Component;
  /** The machine; undefined: a scheduler, or not recorded. */
  readonly worker: string | undefined;
}

/** Work of mergers, executors and webs; everything else is the scheduler's. */
const BY_KIND: ReadonlyMap<string, Component> = new Map<SpanKind, Component>([
  ['MergerJob', 'merger'],
  ['FetchRefs', 'merger'],
  ['MergeChanges', 'merger'],
  ['ReadConfig', 'merger'],
  ['JobExecution', 'executor'],
  ['BuildRepoCheck', 'executor'],
  ['BuildRepoAccess', 'executor'],
  ['BuildRepoUpdateLock', 'executor'],
  ['BuildRepoUpdate', 'executor'],
  ['BuildCloneRepo', 'executor'],
  ['BuildMergeChanges', 'executor'],
  ['BuildCheckoutSize', 'executor'],
  ['BuildSetRepoState', 'executor'],
  ['BuildCheckout', 'executor'],
  ['JobSetup', 'executor'],
  ['Playbook', 'executor'],
  ['AnsiblePlay', 'executor'],
  ['AnsibleTask', 'executor'],
  ['ScriptStep', 'executor'],
  ['Cleanup', 'executor'],
  ['EventReceive', 'web'],
]);

/**
 * @param attributes of one of our own spans. A `Build` names a worker, too, but covers the time from request to result, which is the
 *   scheduler's.
 */
export function makerOf({ attributes }: Pick<SpanRecord, 'attributes'>): SpanMaker {
  const component = BY_KIND.get(String(attributes[ATTRIBUTE.spanType])) ?? 'scheduler';
  const worker = component === 'scheduler' ? undefined : attributes[ATTRIBUTE.worker];
  // Without a web that received it, a scheduler's poll found the event.
  if (component === 'web' && worker === undefined) return { component: 'scheduler', worker };
  return { component, worker: typeof worker === 'string' ? worker : undefined };
}
