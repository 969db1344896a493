/**
 * A connection that only takes reports: a mail server, a message broker. It has no projects and makes no events, so every report of a
 * pipeline that names it goes there once for each item, of whichever connection its changes are.
 *
 * Messages have an outbox and lanes of their own (`src/scheduler/report/message-intents.ts`): no item waits for one, and a server that
 * does not serve delays its own messages only. `unconfirmed.ts` bounds how often one may be repeated.
 */
import type { Clock } from '../lib/clock.ts';
import type { OptionReader } from '../lib/option-reader.ts';
import type { ConnectionName } from '../model/project.ts';
import type { DriverLog } from './connection.ts';
import type { DriverConfigLanguage } from './driver.ts';
import type { Reporter } from './reporter.ts';

/** What pipelines may say about it: reporters alone. */
export interface MessengerLanguages {
  /** The value of `driver =` in a connection's section; unique among all drivers. */
  readonly name: string;
  /** Messages show `report.notice`, so rules of `[notify NAME]` may name its connections. Absent: they may not. */
  readonly takesNotices?: true;
  readonly config: Pick<DriverConfigLanguage, 'parseReporter'>;
}

/** One kind of server. */
export interface MessengerDriver extends MessengerLanguages {
  /**
   * Reads the section's options, without contacting the server.
   *
   * @returns undefined when an option was invalid: `options` holds the reasons.
   */
  connect(
    name: string,
    options: OptionReader,
    deps: { readonly clock: Clock; readonly log: DriverLog },
  ): Promise<Messenger | undefined>;
}

/** One `[connection NAME]` section at work. */
export interface Messenger {
  readonly name: ConnectionName;
  readonly driver: string;
  /** Returns `later` where the server does not serve; never throws for it. */
  readonly reporter: Pick<Reporter, 'report'>;
  /** No method is called after it. */
  close(): Promise<void>;
}

/** A driver that is not loaded yet; `drivers/index.ts` lists them all. */
export interface MessengerImports {
  readonly name: string;
  load(): Promise<MessengerDriver>;
  /** For threads, which need no more. */
  loadLanguages(): Promise<MessengerLanguages>;
}
