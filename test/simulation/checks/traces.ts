/**
 * I12, I13, I30: every item that is exported (whole-traces.ts) has exactly one root span, with its own trace id and the time it was enqueued; all copies of a span
 * are equal; the tree of spans holds together; every item that left is in the history, with one content.
 */
import { isExported } from '../../../src/model/queue-item.ts';
import type { SpanRecord } from '../../../src/model/span.ts';
import { asArrived, checkTraces } from '../../fake/check-traces.ts';
import type { Transaction } from '../store/server.ts';
import type { World } from '../world.ts';
import type { Check, Complain } from './check.ts';
import { spansOf } from './decoded.ts';
import type { PipelineHistory } from './pipeline-history.ts';

export class Traces implements Check {
  readonly #world: World;
  readonly #history: PipelineHistory;
  readonly #complain: Complain;
  /** What was written into the outbox, by span id. */
  readonly #written = new Map<string, string>();
  readonly #strict: boolean;

  /** @param strict nothing may be sent twice: a run without faults. */
  constructor(world: World, history: PipelineHistory, complain: Complain, strict: boolean) {
    this.#world = world;
    this.#history = history;
    this.#complain = complain;
    this.#strict = strict;
  }

  committed({ operations }: Transaction): void {
    for (const operation of operations) {
      if (operation.kind !== 'create' || !operation.path.includes('/outbox/spans/')) continue;
      for (const span of spansOf(operation.data)) this.#write(span);
    }
  }

  finished(): void {
    const { received } = this.#world;
    const arrived = received.spans.map(({ span }) => span);
    for (const problem of checkTraces(this.#eachHeldOnce(arrived).map(asArrived), {
      repeatsAllowed: !this.#strict,
    }))
      this.#complain('I13', problem);
    const roots = Map.groupBy(
      arrived.filter(span => span.parent === null && span.attributes['gatehouse.span.type'] === 'QueueItem'),
      (span): string => span.traceId,
    );
    for (const { uuid } of this.#history.items.values()) {
      const item = this.#history.left.get(uuid);
      if (item === undefined || !isExported(item)) continue;
      const own = roots.get(item.uuid) ?? [];
      if (own.length === 0) this.#complain('I12', `item ${item.uuid} has no root span`);
      for (const root of own)
        if (root.start !== item.enqueuedAt)
          this.#complain('I12', `the root of item ${item.uuid} starts at ${root.start}`);
    }
    this.#checkHistory();
  }

  #write(span: SpanRecord): void {
    const text = JSON.stringify(span);
    const before = this.#written.get(span.spanId);
    if (before !== undefined && before !== text)
      this.#complain('I12', `span ${span.name} (${span.spanId}) was written with two contents`);
    // The trace of an event is sent with each of its items that is kept.
    else if (before !== undefined && span.attributes['gatehouse.item.id'] !== undefined)
      this.#complain('I12', `span ${span.name} (${span.spanId}) was written twice`);
    this.#written.set(span.spanId, text);
  }

  /** Of several kept items of an event each brings along its trace. */
  #eachHeldOnce(arrived: readonly SpanRecord[]): readonly SpanRecord[] {
    const held = new Set<string>(
      [...this.#history.left.values()].flatMap(({ kept, origin }) =>
        kept === true ? (origin.heldSpans ?? []).map(({ spanId }) => spanId) : [],
      ),
    );
    const first = new Map(arrived.toReversed().map(span => [span.spanId, span]));
    return arrived.filter(span => !held.has(span.spanId) || first.get(span.spanId) === span);
  }

  #checkHistory(): void {
    const rows = this.#world.received.history.flatMap(({ row }) => (row.kind === 'item' ? [row.item] : []));
    const byItem = Map.groupBy(rows, (item): string => item.uuid);
    for (const uuid of this.#history.items.keys()) {
      const own = byItem.get(uuid) ?? [];
      if (own.length === 0) this.#complain('I30', `item ${uuid} is not in the history`);
      if (new Set(own.map(item => JSON.stringify(item))).size > 1)
        this.#complain('I30', `item ${uuid} is in the history with two contents`);
      if (this.#strict && own.length > 1)
        this.#complain('I30', `item ${uuid} was sent to the history ${own.length} times`);
    }
  }
}
