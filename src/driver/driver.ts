/**
 * What a driver is: one kind of code host.
 *
 * A driver is an object literal. Its pure part (`config`) checks and evaluates what pipelines say about its connections:
 * the layout calls the parsers, the scheduler the predicates. Its effectful part is the {@link Connection} it opens for a
 * `[connection NAME]` section, whose capabilities are optional: an absent one is absent, not a stub that throws.
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
import type { Mergeability } from './mergeability.ts';
import type { ParseResult } from './parse-result.ts';
import type { Verdict } from './verdict.ts';

export interface DriverConfigLanguage {
  /** One element of `trigger: {<connection>: [...]}`. */
  parseTrigger(value: Json): ParseResult<Json>;
  /** The value of `require: {<connection>: ...}` or `reject:`. */
  parseRequirement(value: Json): ParseResult<Json>;
  /** The value of `success: {<connection>: ...}` and its siblings. */
  parseReporter(value: Json): ParseResult<Json>;
  /** @param record what the change cache holds of the event's change; undefined: nothing. */
  matches(trigger: Json, event: TriggerEvent, record: ChangeRecord | undefined): Verdict;
  /** @param now of the turn, for requirements on the age of something. */
  meets(requirement: Json, record: ChangeRecord, now: Nanoseconds): Verdict;
  /**
   * When `meets` may answer otherwise although nothing happens: the first time after `now`; null: never. No such method: no
   * requirement of this driver is about the age of something.
   */
  recheckAt?(requirement: Json, record: ChangeRecord, now: Nanoseconds): Nanoseconds | null;
  /** How this reporter lands the change; null: it only reports. */
  landingMode(reporter: Json): LandingMode | null;
}

export interface Driver {
  /** As in `driver=`. */
  readonly name: string;
  /** Root span kind of its ingestion traces, e.g. `GitEvent`. */
  readonly eventSpanKind: string;
  readonly config: DriverConfigLanguage;
  /** The language of connections that only read (`Connection.readOnly`). Absent: the driver has none. */
  readonly readOnlyConfig?: DriverConfigLanguage;
  readonly mergeability?: Mergeability;
  /**
   * Reads its options (the reader collects errors with file and line and knows which options stayed unread) and opens a
   * connection. Nothing is contacted yet.
   *
   * @returns undefined when an option was invalid: the reader holds the reasons.
   */
  connect(name: string, options: OptionReader, deps: ConnectionDeps): Connection | undefined;
}
