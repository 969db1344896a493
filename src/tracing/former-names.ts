/**
 * Attribute names of releases up to 0.3 → today's. Spans are stored with their names in the outbox, in records that hold traces of
 * events back, and in the history. All of them pass the sender, which reads them through {@link withCurrentNames}.
 */
import type { Attributes, SpanRecord } from '../model/span.ts';
import { ATTRIBUTE, type AttributeKey } from './attributes.ts';

/** Every span of ours had it up to 0.3, none has it today. */
const FORMER_TYPE = 'gatehouse.span';

const FORMER: ReadonlyMap<string, AttributeKey> = new Map<string, AttributeKey>([
  [FORMER_TYPE, 'spanType'],
  ['gatehouse.outcome', 'eventOutcome'],
  ['gatehouse.left', 'leaveCode'],
  ['gatehouse.left.text', 'leaveText'],
  ['gatehouse.left.because_of', 'initiatorType'],
  ['gatehouse.left.by', 'initiatorName'],
  ['gatehouse.number', 'buildsetNumber'],
  ['gatehouse.index', 'playbookIndex'],
  ['gatehouse.tries', 'attemptCount'],
  ['gatehouse.removed', 'removedCount'],
  ['gatehouse.settled', 'settledCount'],
  ['gatehouse.subject', 'spanSubject'],
  ['gatehouse.told_parent', 'originalParent'],
  ['gatehouse.cause', 'causeCode'],
  ['gatehouse.culprit', 'culpritChange'],
  ['gatehouse.item', 'itemId'],
  ['gatehouse.buildset', 'buildsetId'],
  ['gatehouse.build', 'buildId'],
]);

/** Of a span event with a culprit. */
const FORMER_OF_CULPRIT: typeof FORMER = new Map<string, AttributeKey>([
  ...FORMER,
  ['gatehouse.item', 'culpritItem'],
  ['gatehouse.build', 'culpritBuild'],
  ['gatehouse.job', 'culpritJob'],
  ['gatehouse.result', 'culpritResult'],
]);

/** What an outcome is the outcome of, on spans that are no events. */
const FORMER_OUTCOMES: ReadonlyMap<unknown, AttributeKey> = new Map<unknown, AttributeKey>([
  ['Merge', 'mergeOutcome'],
  ['RepoState', 'mergeOutcome'],
  ['ExecutorQueue', 'executorQueueOutcome'],
  ['AnsibleTask', 'ansibleOutcome'],
  ['Report', 'reportOutcome'],
  ['HostReport', 'reportOutcome'],
  ['HostMerge', 'reportOutcome'],
]);

/** @returns the same object for a span that 0.4 or later wrote, and for spans of others. */
export function withCurrentNames(span: SpanRecord): SpanRecord {
  const type = span.attributes[FORMER_TYPE];
  if (type === undefined) return span;
  const outcome = FORMER_OUTCOMES.get(type);
  const own = outcome === undefined ? FORMER : new Map([...FORMER, ['gatehouse.outcome', outcome]]);
  return {
    ...span,
    attributes: renamed(span.attributes, own),
    events: span.events.map(event => ({
      ...event,
      name: event.name === 'left' ? 'dequeued' : event.name,
      attributes: renamed(
        event.attributes,
        event.attributes['gatehouse.culprit'] === undefined ? FORMER : FORMER_OF_CULPRIT,
      ),
    })),
  };
}

function renamed(attributes: Attributes, names: typeof FORMER): Attributes {
  return Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => {
      const key = names.get(name);
      return [key === undefined ? name : ATTRIBUTE[key], value];
    }),
  );
}
