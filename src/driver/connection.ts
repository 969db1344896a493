/**
 * An open connection to one code host: a name, and the capabilities this host has.
 *
 *   source.ts     reads the host: events, changes, branches
 *   intake.ts     receives notifications of the host: a listener, a webhook
 *   reporter.ts   reports results
 *   landing.ts    lands changes
 *   answerer.ts   answers questions of people
 *   remote.ts     where git finds a project
 *   health.ts     whether the host serves requests
 *   usage.ts      what this process asks of the host
 *   online-check.ts   whether it serves what pipelines want of it
 *
 * What only takes reports is a messenger (messenger.ts, unconfirmed.ts) instead.
 *
 * A driver (driver.ts) opens it; language-of.ts and find-remote.ts look one up. What the contract's answers are made of: verdict.ts,
 * mergeability.ts, parse-result.ts, driver-memory.ts, host-later.ts, host-steps.ts, webhook-request.ts. What drivers share:
 *
 *   language     read-mapping.ts, pattern.ts, age.ts, requirement.ts, change-flags.ts, trigger-match.ts; compiled-once.ts
 *   reading      answer-event.ts (host-finding.ts → the answer of an event), memory-index.ts, stale-reads.ts; host-away.ts
 *   changes      read-change-key.ts, ref-update.ts, merge-message.ts
 *   landing      landing-errors.ts, not-holder.ts
 *   reporting    remarks-text.ts, report-line.ts
 *   the host     host-health.ts, request-counts.ts, ask-online.ts
 *
 * Life: `connect` → any number of calls → `close`. `listen` runs only in the process that was elected for it; every other
 * method may be called in any process. Nothing here decides or writes state: what a method finds goes into the store with
 * the caller's commit.
 *
 * Errors: expected ones are in the returned unions. Everything else throws and is retried by the caller's loop with
 * back-off, so methods must be repeatable.
 */
import type { RepositoryCache } from '../git/repository-cache.ts';
import type { Clock } from '../lib/clock.ts';
import type { LandingMode } from '../model/landed.ts';
import type { ConnectionName, ProjectKey } from '../model/project.ts';
import type { Answerer } from './answerer.ts';
import type { HealthView } from './health.ts';
import type { Listener, WebhookIntake } from './intake.ts';
import type { Landing } from './landing.ts';
import type { OnlineCheck } from './online-check.ts';
import type { GitRemote, RemoteUse } from './remote.ts';
import type { Reporter } from './reporter.ts';
import type { Source } from './source.ts';
import type { UsageView } from './usage.ts';

/** What a driver gets to open a connection with. */
export interface ConnectionDeps {
  readonly clock: Clock;
  readonly log: DriverLog;
  /** Mirrors that driver, merger and executor of this machine share. The caller closes them. */
  readonly repositories: RepositoryCache;
}

/** A structured log that names the connection. Secrets and credentials never go into it. */
export interface DriverLog {
  debug(facts: object, text: string): void;
  info(facts: object, text: string): void;
  warn(facts: object, text: string): void;
}

/** One `[connection NAME]` section at work. An absent capability is one that the host does not have. */
export interface Connection {
  readonly name: ConnectionName;
  /** {@link import('./driver.ts').Driver.name} */
  readonly driver: string;
  /** Host part of canonical project names; place of checkouts below `src/`. */
  readonly canonicalHostname: string;
  /** It only reads: no reporter and no landing, and pipelines use the driver's `readOnlyConfig`. */
  readonly readOnly?: true;
  /** How its settings have changes land; absent: as the driver's `landingMode` says. */
  readonly landsBy?: LandingMode;
  /**
   * Its settings name no credentials of their own: `remote` gives an address, and executors borrow the headers from the process that
   * holds the connection. For processes without scheduler and merger.
   */
  readonly borrowsAccess?: true;
  /** Where git reads or writes the project now. @throws when the host gives no access: host trouble, tried again later. */
  remote(project: ProjectKey, use: RemoteUse): Promise<GitRemote>;
  /** URL of the repository for people and other machines, without credentials; undefined: only this machine reaches it. */
  publicUrl(project: ProjectKey): string | undefined;
  readonly source: Source;
  readonly listener?: Listener;
  readonly webhook?: WebhookIntake;
  readonly reporter?: Reporter;
  readonly landing?: Landing;
  readonly answerer?: Answerer;
  readonly health?: HealthView;
  readonly usage?: UsageView;
  /** For `config-check --online`. */
  readonly checkOnline?: OnlineCheck;
  /** No method is called after it. */
  close(): Promise<void>;
}
