/**
 * Which part of an installation did what a span tells, and on which machine: read from the span alone, so that a span that is sent
 * again, by another process or from the history, has the same resource as the first time.
 */
import type { SpanRecord } from '../model/span.ts';
import type { SpanKind } from './allowed-attributes.ts';
import { ATTRIBUTE } from './attributes.ts';

export const COMPONENTS = ['scheduler', 'merger', 'executor', 'web'] as const;
type Component = (typeof COMPONENTS)[number];

export interface SpanMaker {
  readonly component: Component;
  /** The machine; undefined: a scheduler, whichever held the pipeline, or it was not recorded. */
  readonly worker: string | undefined;
}

/** What mergers, executors and webs do; all else is the scheduler's. */
const BY_KIND: ReadonlyMap<string, Component> = new Map<SpanKind, Component>([
  ['MergerJob', 'merger'],
  ['FetchRefs', 'merger'],
  ['MergeChanges', 'merger'],
  ['ReadConfig', 'merger'],
  ['JobExecution', 'executor'],
  ['BuildRepoCheck', 'executor'],
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
 * @param attributes of a span of ours. A `Build` names a worker, too, but what it tells, from the request to the answer, is the
 *   scheduler's doing.
 */
export function makerOf({ attributes }: Pick<SpanRecord, 'attributes'>): SpanMaker {
  const component = BY_KIND.get(String(attributes[ATTRIBUTE.spanType])) ?? 'scheduler';
  const worker = component === 'scheduler' ? undefined : attributes[ATTRIBUTE.worker];
  // What a code host did not push was looked for by a scheduler.
  if (component === 'web' && worker === undefined) return { component: 'scheduler', worker };
  return { component, worker: typeof worker === 'string' ? worker : undefined };
}
