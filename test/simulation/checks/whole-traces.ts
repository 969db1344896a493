/**
 * Sampling is whole: of an item whose event the ratio took, or that a keep rule held for when it left, every span its history
 * gives arrives, and is what was sent while it lived; of any other nothing does, nor of events the ratio left out but those that a
 * kept item came of.
 */
import { spanIdOf } from '../../../src/lib/ids.ts';
import type { TenantEvent } from '../../../src/model/event.ts';
import { buildsetsOf, isExported, type QueueItem } from '../../../src/model/queue-item.ts';
import type { SpanRecord } from '../../../src/model/span.ts';
import type { Operation } from '../../../src/store/port.ts';
import { isKept } from '../../../src/tracing/keep.ts';
import { jobExecutionSpanId } from '../../../src/tracing/span-ids.ts';
import { exportedSpans } from '../../../src/tracing/spans/item-spans.ts';
import { CONNECTION } from '../host/host-git.ts';
import { TENANT } from '../site.ts';
import type { Transaction } from '../store/server.ts';
import type { World } from '../world.ts';
import type { Check, Complain } from './check.ts';
import { connectionEventOf, spansOf, tenantEventOf } from './decoded.ts';
import type { PipelineHistory } from './pipeline-history.ts';

export class WholeTraces implements Check {
  readonly #world: World;
  readonly #history: PipelineHistory;
  readonly #complain: Complain;
  readonly #reached: (name: string) => void;
  /** Whether the ratio took it, by the uuid of an event. */
  readonly #sampled = new Map<string, boolean>();
  readonly #strict: boolean;

  /** @param strict every executor reports its work: a run without faults. */
  constructor(
    world: World,
    history: PipelineHistory,
    complain: Complain,
    reached: (name: string) => void,
    strict: boolean,
  ) {
    this.#world = world;
    this.#history = history;
    this.#complain = complain;
    this.#reached = reached;
    this.#strict = strict;
  }

  committed({ operations }: Transaction): void {
    for (const operation of operations) if (operation.kind === 'create') this.#created(operation);
  }

  finished(): void {
    const arrived = new Map(this.#world.received.spans.map(({ span }) => [span.spanId, span]));
    const taken = new Set(
      [...this.#history.left.values()].flatMap(({ kept, origin }) =>
        kept === true ? [origin.eventSpan.traceId, origin.tenantSpan.traceId] : [],
      ),
    );
    for (const { traceId, name } of arrived.values())
      if (this.#sampled.get(traceId) === false && !taken.has(traceId))
        this.#complain('whole', `${name} arrived of event ${traceId}, which the ratio left out`);
    const traces = new Set<string>([...arrived.values()].map(({ traceId }) => traceId));
    for (const item of this.#history.left.values()) {
      this.#checkVerdict(item);
      if (isExported(item)) this.#checkWhole(item, arrived);
      else if (tracesOf(item).some(trace => traces.has(trace)))
        this.#complain('whole', `spans of item ${item.uuid} arrived, which is left out`);
    }
  }

  #created({ path, data }: Extract<Operation, { kind: 'create' }>): void {
    const { paths } = this.#world;
    if (path === `${paths.connection(CONNECTION).queue}/`) {
      const { uuid, sampled } = connectionEventOf(data);
      this.#sampled.set(uuid, sampled);
      if (!sampled) this.#reached('the ratio leaves an event out');
    } else if (path === `${paths.tenant(TENANT).triggerQueue}/`) {
      const event = tenantEventOf(data);
      const sampled = isSampled(event);
      this.#sampled.set(event.uuid, sampled);
      if (event.kind === 'trigger') this.#sampled.set(event.trigger.uuid, sampled);
    } else if (path.includes('/outbox/spans/')) {
      if (spansOf(data).some(span => this.#isLate(span)))
        this.#reached('a build is reported after its item has left');
    }
  }

  /** Its item is in the history already: sent by an earlier write. */
  #isLate({ attributes }: SpanRecord): boolean {
    const item = attributes['gatehouse.item.id'];
    return (
      attributes['gatehouse.span.type'] === 'JobExecution' &&
      typeof item === 'string' &&
      this.#history.left.has(item)
    );
  }

  #checkVerdict(item: QueueItem): void {
    const { uuid, origin, sampled, heldBack, kept } = item;
    if (this.#sampled.get(origin.event) !== sampled)
      this.#complain('whole', `item ${uuid} has sampled ${sampled}, unlike its event`);
    const wanted = heldBack === true && isKept(item, this.#world.tracing.keep);
    if ((kept === true) !== wanted)
      this.#complain('whole', `item ${uuid} is kept: ${kept}; by the rules: ${wanted}`);
    if (kept === true) this.#reached('an item is kept for what became of it');
  }

  #checkWhole(item: QueueItem, arrived: ReadonlyMap<string, SpanRecord>): void {
    if (item.kept === true && item.origin.heldSpans?.some(span => span.parent === null) !== true)
      this.#complain('whole', `item ${item.uuid} is kept without the trace of its event`);
    for (const span of exportedSpans(item)) {
      const found = arrived.get(span.spanId);
      if (found === undefined) this.#complain('whole', `${span.name} of item ${item.uuid} did not arrive`);
      else if (JSON.stringify(found) !== JSON.stringify(span))
        this.#complain('whole', `${span.name} of item ${item.uuid} is another one in the history`);
    }
    if (!this.#strict || !item.sampled) return;
    const ended = new Set(this.#world.jobRuns.flatMap(run => (run.verdict === undefined ? [] : [run.build])));
    for (const { uuid } of buildsetsOf(item).flatMap(({ builds }) => builds))
      if (ended.has(uuid) && !arrived.has(jobExecutionSpanId(spanIdOf(uuid))))
        this.#complain('whole', `what the executor did for build ${uuid} did not arrive`);
  }
}

/** Its own, and those jobs may have to themselves. */
function tracesOf(item: QueueItem): readonly string[] {
  return [item.uuid, ...buildsetsOf(item).flatMap(({ builds }) => builds.map(({ uuid }) => uuid))];
}

function isSampled(event: TenantEvent): boolean {
  if (event.kind === 'trigger') return event.trigger.sampled;
  return (event.kind === 'enqueue' ? event.management : event.origin)?.sampled === true;
}
