/**
 * What a driver is: one kind of code host.
 *
 * A driver is an object literal. Its pure part (`config`) parses and evaluates what pipelines say about its connections:
 * the layout calls the parsers, the scheduler the predicates. Its other part opens a {@link Connection} for each
 * `[connection NAME]` section. Capabilities of a connection are optional: an absent one is absent, not a stub that throws.
 *
 * Worked example: `trigger: {local: [{event: approved}]}` on a connection of driver `git` is parsed by
 * `config.parseTrigger({event: 'approved'})` into plain JSON that is stored in the layout; later
 * `config.matches(thatJson, event, record)` says `{met: true, text: 'event approved'}` or why not.
 */
import type { Nanoseconds } from '../lib/clock.ts';
import type { OptionReader } from '../lib/option-reader.ts';
import type { ChangeRecord } from '../model/change.ts';
import type { TriggerEvent } from '../model/event.ts';
import type { Json } from '../model/job.ts';
import type { LandingMode } from '../model/landed.ts';
import type { Connection, ConnectionDeps } from './connection.ts';
import type { Mergeability, ReportingPipeline } from './mergeability.ts';
import type { ParseResult } from './parse-result.ts';
import type { Verdict } from './verdict.ts';

/**
 * What pipelines may say about a connection. All methods are pure. What a parser returns is stored in the layout and must parse
 * to itself, so that the predicates can read it with the same parser.
 */
export interface DriverConfigLanguage {
  /** One element of `trigger: {<connection>: [...]}`. */
  parseTrigger(value: Json): ParseResult<Json>;
  /** The value of `require: {<connection>: ...}` or `reject:`. */
  parseRequirement(value: Json): ParseResult<Json>;
  /** The value of `success: {<connection>: ...}` and its siblings. */
  parseReporter(value: Json): ParseResult<Json>;
  /**
   * Whether the trigger takes the event.
   *
   * @param trigger as `parseTrigger` returned it.
   * @param record the cached record of the event's change; undefined: the cache has none.
   * @param taker whose trigger it is: what a pipeline reports itself must not trigger it again.
   */
  matches(
    trigger: Json,
    event: TriggerEvent,
    record: ChangeRecord | undefined,
    taker: ReportingPipeline,
  ): Verdict;
  /**
   * Whether the change meets the requirement.
   *
   * @param requirement as `parseRequirement` returned it.
   * @param now time of the turn, for requirements on an age.
   */
  meets(requirement: Json, record: ChangeRecord, now: Nanoseconds): Verdict;
  /**
   * Whether the change is what `reject:` names. Absent: `meets` answers, and all that is written has to hold.
   *
   * @param rejection as `parseRequirement` returned it.
   * @returns met: it is rejected.
   */
  rejects?(rejection: Json, record: ChangeRecord, now: Nanoseconds): Verdict;
  /**
   * The first time after `now` at which `meets`, or `rejects`, may answer otherwise without an event; null: never. A driver whose
   * requirements do not depend on time has no such method.
   */
  recheckAt?(requirement: Json, record: ChangeRecord, now: Nanoseconds): Nanoseconds | null;
  /** How this reporter lands the change; null: it only reports. @param reporter as `parseReporter` returned it. */
  landingMode(reporter: Json): LandingMode | null;
}

/**
 * The pure part of a driver. The thread of each tenant loads it, so it imports neither the driver's connection nor packages that
 * only the connection needs.
 */
export interface DriverLanguages {
  /** The value of `driver =` in a connection's section; unique. */
  readonly name: string;
  readonly config: DriverConfigLanguage;
  /** The language of connections that only read (`Connection.readOnly`). Absent: the driver has none. */
  readonly readOnlyConfig?: DriverConfigLanguage;
}

/** One kind of code host. */
export interface Driver extends DriverLanguages {
  /** Kind of the root spans of its event traces, e.g. `GitEvent`. */
  readonly eventSpanKind: string;
  /** Absent: the host lands any change. */
  readonly mergeability?: Mergeability;
  /**
   * Reads the section's options and opens a connection, without contacting the host. The modules of the connection are loaded here:
   * a process loads the drivers that its connections name, not all there are.
   *
   * @param options collects mistakes with file and line; the caller reports options that stayed unread.
   * @returns undefined when an option was invalid: `options` holds the reasons.
   */
  connect(name: string, options: OptionReader, deps: ConnectionDeps): Promise<Connection | undefined>;
}

/** A driver that is not loaded yet; `drivers/index.ts` lists them all. A process loads those that its connections name. */
export interface DriverImports {
  /** That of the driver. */
  readonly name: string;
  load(): Promise<Driver>;
  /** For threads, which need no more. */
  loadLanguages(): Promise<DriverLanguages>;
}
