/**
 * Reads the turns of every pipeline back from what was committed and hands them to the checker of the pure room: invariants
 * 1, 2, 6, 7 and 9 of the gating contract on what really happened, whichever process did it.
 *
 *     items and counters before and after     the nodes the write changed
 *     events                                  the entries of the pipeline's queue it removed
 *     commands                                the requests, cancels and report intents it made
 */
import { parseNanoseconds } from '../../../src/lib/clock.ts';
import { derivedUuid } from '../../../src/lib/ids.ts';
import { isOpen } from '../../../src/model/build.ts';
import {
  buildRequestCodec,
  historyRowsCodec,
  mergerRequestCodec,
  pipelineCountersCodec,
  queueItemCodec,
  reportIntentCodec,
} from '../../../src/model/codec/records.ts';
import type { PipelineEvent } from '../../../src/model/event.ts';
import { withOwnQueues } from '../../../src/model/own-queues.ts';
import type { ManagerName } from '../../../src/model/pipeline.ts';
import { EMPTY_PIPELINE, type PipelineState } from '../../../src/model/pipeline-state.ts';
import { buildsetsOf, type QueueItem } from '../../../src/model/queue-item.ts';
import type { Command, TurnInput, TurnMemory, TurnOutput } from '../../../src/pipeline/turn.ts';
import { gatePipeline } from '../../fake/pipeline.ts';
import { HistoryChecker } from '../../invariants/history-checker.ts';
import type { StoreServer, Transaction } from '../store/server.ts';
import type { Check, Complain } from './check.ts';
import { pipelineEventOf } from './decoded.ts';
import { share } from './share.ts';

const NO_MEMORY: TurnMemory = {
  state: EMPTY_PIPELINE,
  rules: { tenant: 'acme', pipeline: gatePipeline({ name: 'none' }) },
  changes: new Map(),
  index: null,
  unsettled: new Set(),
  touched: new Set(),
  waiting: new Set(),
  parked: new Set(),
};

const MANAGERS: { readonly [pipeline: string]: ManagerName } = {
  gate: 'dependent',
  deploy: 'serial',
  promote: 'supercedent',
};

interface Followed {
  /** As the store has it: without the queues that items have for themselves. */
  stored: PipelineState;
  state: PipelineState;
  readonly checker: HistoryChecker;
  reported: number;
  /** Whose turn the last one was. */
  session: string;
}

export class PipelineHistory implements Check {
  readonly #server: StoreServer;
  readonly #complain: Complain;
  readonly #base: string;
  readonly #reached: (name: string) => void;
  readonly #pipelines = new Map<string, Followed>();
  /** Every live item that ever was, by uuid, as first stored. */
  readonly items = new Map<string, QueueItem>();
  /** How each left. */
  readonly left = new Map<string, QueueItem>();
  /** How often another scheduler took a turn with it than the one before. */
  readonly takeovers = new Map<string, number>();

  constructor(server: StoreServer, base: string, complain: Complain, reached: (name: string) => void) {
    this.#server = server;
    this.#base = `${base}/`;
    this.#complain = complain;
    this.#reached = reached;
  }

  committed(transaction: Transaction): void {
    const own = transaction.operations.find(
      ({ kind, path }) => kind !== 'check' && path.startsWith(this.#base),
    );
    if (own === undefined) return;
    const pipeline = own.path.slice(this.#base.length).split('/')[0] ?? '';
    const places = `${this.#base}${pipeline}`;
    const isState = (path: string) => path === `${places}/state` || path.startsWith(`${places}/items/`);
    const concerns = transaction.operations.some(({ kind, path }) => kind !== 'check' && isState(path));
    const events = this.#eventsTaken(transaction, `${places}/events/`);
    if (!concerns && events.length === 0) return;
    this.#turn(pipeline, places, transaction, events);
  }

  finished(): void {
    for (const [name, { checker }] of this.#pipelines) {
      checker.finish();
      this.#report(name);
    }
  }

  state(pipeline: string): PipelineState {
    return this.#pipelines.get(pipeline)?.state ?? EMPTY_PIPELINE;
  }

  #turn(pipeline: string, places: string, transaction: Transaction, events: readonly PipelineEvent[]): void {
    const followed = this.#followed(pipeline);
    const before = followed.state;
    followed.stored = this.#after(followed.stored, places, transaction);
    const state = withOwnQueues(followed.stored);
    const left = this.#leftItems(before, state, transaction);
    followed.state = state;
    for (const item of state.items.values()) {
      if (item.role === 'live' && !this.items.has(item.uuid)) this.items.set(item.uuid, item);
    }
    for (const item of left) if (item.role === 'live') this.left.set(item.uuid, item);
    const output: TurnOutput = {
      state,
      left,
      commands: this.#commands(before, state, left, transaction),
      decisions: [],
      memory: NO_MEMORY,
      needs: [],
      ignored: [],
      postponed: new Map(),
      unknownSemaphores: [],
    };
    const input: TurnInput = {
      now: parseNanoseconds('0'),
      tenant: 'acme',
      pipeline: gatePipeline({ name: pipeline, manager: MANAGERS[pipeline] ?? 'independent' }),
      state: before,
      events,
      changes: new Map(),
      frozen: new Map(),
      ids: { uuid: () => derivedUuid(pipeline) },
    };
    this.#noteRare(before, state, left);
    if (followed.session !== transaction.session && followed.session !== '') this.#noteTakeOver(before);
    followed.session = transaction.session;
    followed.checker.turn(input, output);
    this.#report(pipeline);
  }

  #followed(pipeline: string): Followed {
    const known = this.#pipelines.get(pipeline);
    if (known !== undefined) return known;
    const made: Followed = {
      stored: EMPTY_PIPELINE,
      state: EMPTY_PIPELINE,
      checker: new HistoryChecker(),
      reported: 0,
      session: '',
    };
    this.#pipelines.set(pipeline, made);
    return made;
  }

  #report(pipeline: string): void {
    const followed = this.#followed(pipeline);
    for (const { invariant, text } of followed.checker.violations.slice(followed.reported))
      this.#complain(`gating ${invariant}`, `${pipeline}: ${text}`);
    followed.reported = followed.checker.violations.length;
  }

  #after(before: PipelineState, places: string, { operations }: Transaction): PipelineState {
    const items = new Map(before.items);
    let counters = { ...before };
    for (const operation of operations) {
      if (operation.path === `${places}/state` && operation.kind === 'set')
        counters = { ...counters, ...pipelineCountersCodec.decode(operation.data) };
      if (!operation.path.startsWith(`${places}/items/`)) continue;
      if (operation.kind === 'delete') {
        const uuid = [...items.keys()].find(each => operation.path.endsWith(each));
        if (uuid !== undefined) items.delete(uuid);
      } else if (operation.kind !== 'check') {
        const item = queueItemCodec.decode(operation.data);
        items.set(item.uuid, share(before.items.get(item.uuid), item));
      }
    }
    return { ...counters, items };
  }

  #eventsTaken({ operations, before }: Transaction, prefix: string): readonly PipelineEvent[] {
    return operations.flatMap(({ kind, path }) => {
      const data = kind === 'delete' && path.startsWith(prefix) ? before.get(path) : undefined;
      return data === undefined ? [] : [pipelineEventOf(data)];
    });
  }

  /** The history says how live items left; items that only held a place have no row. */
  #leftItems(before: PipelineState, after: PipelineState, { operations }: Transaction): readonly QueueItem[] {
    const stored = operations.flatMap(operation =>
      operation.kind === 'create' && operation.path.includes('/outbox/history/')
        ? historyRowsCodec
            .decode(operation.data)
            .flatMap(row => (row.kind === 'item' ? [share(before.items.get(row.item.uuid), row.item)] : []))
        : [],
    );
    const silent = [...before.items.values()]
      .filter(item => !after.items.has(item.uuid) && item.role === 'dependency')
      .map((item): QueueItem => {
        const at = item.timeline.at(-1)?.since ?? item.enqueuedAt;
        const stage = { state: 'complete', at, result: 'DEQUEUED', tested: null, graph: null } as const;
        return {
          ...item,
          phase: { phase: 'left', at, reason: 'no-longer-needed', result: 'DEQUEUED' },
          buildset: { ...item.buildset, stage },
        };
      });
    return [...stored, ...silent];
  }

  #commands(
    before: PipelineState,
    after: PipelineState,
    left: readonly QueueItem[],
    transaction: Transaction,
  ): readonly Command[] {
    return [
      ...transaction.operations.flatMap(operation =>
        operation.kind === 'create' ? this.#asked(operation, after) : [],
      ),
      ...this.#cancels(before, [...after.items.values(), ...left]),
    ];
  }

  #asked(
    operation: { readonly path: string; readonly data: Uint8Array },
    after: PipelineState,
  ): readonly Command[] {
    const { path, data } = operation;
    if (path.includes('/requests/merge/default/bodies/')) {
      const request = mergerRequestCodec.decode(data);
      if (request.kind !== 'merge' || request.item === undefined) return [];
      return [
        {
          kind: 'request-merge',
          request: request.uuid,
          item: request.item.item,
          buildset: request.item.buildset,
        },
      ];
    }
    if (path.includes('/requests/build/default/bodies/')) {
      const { uuid, item, buildset, jobName, attempt } = buildRequestCodec.decode(data);
      return [{ kind: 'request-build', build: uuid, item, buildset, job: jobName, attempt }];
    }
    if (!path.includes('/outbox/reports/')) return [];
    const { uuid, item, action, result, parts, together } = reportIntentCodec.decode(data);
    const phase = item === null ? undefined : after.items.get(item)?.phase;
    const awaited = phase?.phase === 'reporting' && phase.report === uuid;
    const change = parts[0]?.change.key;
    if (change === undefined) return [];
    const known = result === 'SUCCESS' ? ('SUCCESS' as const) : null;
    const group = together === undefined ? {} : { together };
    return [{ kind: 'report', report: uuid, item, action, result: known, change, awaited, ...group }];
  }

  /** An executor that has a cancelled build must get the cancel, or have ended it. */
  #cancels(before: PipelineState, now: readonly QueueItem[]): readonly Command[] {
    const { leader } = this.#server;
    const requests = '/gatehouse/requests/build/default';
    const open = new Set(
      [...(leader.find(`${requests}/queue`)?.children ?? [])].map(name => name.slice(4, 36)),
    );
    const marked = leader.find(`${requests}/cancelled`)?.children ?? new Set<string>();
    return now.flatMap(item => {
      const was = before.items.get(item.uuid);
      if (was === undefined || was === item) return [];
      const openBefore = new Set(
        buildsetsOf(was).flatMap(each => each.builds.filter(isOpen).map(build => build.uuid)),
      );
      return buildsetsOf(item).flatMap(({ builds }) =>
        builds
          .filter(build => build.state.state === 'cancelled' && openBefore.has(build.uuid))
          .filter(build => !open.has(build.uuid) || marked.has(build.uuid))
          .map((build): Command => ({ kind: 'cancel-build', build: build.uuid })),
      );
    });
  }

  /** Another holder goes on with what it found. */
  #noteTakeOver({ items }: PipelineState): void {
    for (const { uuid, phase, buildset } of items.values()) {
      this.takeovers.set(uuid, (this.takeovers.get(uuid) ?? 0) + 1);
      const at = phase.phase === 'queued' ? buildset.stage.state : phase.phase;
      this.#reached(`taken over while ${at}`);
    }
  }

  #noteRare(before: PipelineState, after: PipelineState, left: readonly QueueItem[]): void {
    for (const item of after.items.values()) {
      const was = before.items.get(item.uuid);
      if (was === undefined || was === item) continue;
      if (item.earlier.length > was.earlier.length)
        this.#reached(`reset: ${item.buildset.cause?.code ?? 'unknown'}`);
      if (item.buildset.builds.some(build => build.attempt > 1)) this.#reached('a build is tried again');
      if (item.buildset.builds.some(build => build.ownTrace === true))
        this.#reached('a job has a trace of its own');
    }
    for (const { phase } of left)
      if (phase.phase === 'left') this.#reached(`left: ${phase.reason} ${phase.result}`);
  }
}
