/**
 * What a person asked to keep: the hosts of a job when it fails, as they are then, or its workspace where it runs on an executor. Stored as
 * the record `hold-request`.
 *
 *     asked {count 2} ──► a build failed {hosts or workspace} ──► another one ──► used up
 *                             └── expires, or the request is deleted: its hosts are cleaned and serve again; its workspace is removed
 *
 * Pure.
 */
import { addMilliseconds, type Nanoseconds } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';
import { compileRegex } from '../lib/regex.ts';
import type { TenantName } from './project.ts';

/** Which changes and refs it is about. `ref`: an expression that matches from the start of the ref. */
export type HoldFilter =
  | { readonly on: 'all' }
  | { readonly on: 'change'; readonly change: string }
  | { readonly on: 'ref'; readonly ref: string };

/** Where the workspace of a build is that ran on its executor. */
export interface KeptWorkspace {
  /** Name of the executor. */
  readonly executor: string;
  /** Absolute, of its machine. */
  readonly path: string;
  /** Allocated on its disk. */
  readonly bytes: number;
}

/** A build whose hosts are kept, or whose workspace. */
export interface HeldBuild {
  readonly build: Uuid;
  readonly at: Nanoseconds;
  /** Empty: it had none. */
  readonly hosts: readonly string[];
  readonly workspace?: KeptWorkspace;
}

/** What a person asked to be held, and what is. Stored as the record `hold-request`. */
export interface HoldRequest {
  readonly tenant: TenantName;
  /** Canonical name. */
  readonly project: string;
  readonly job: string;
  readonly filter: HoldFilter;
  /** One line for people. */
  readonly reason: string;
  /** Who asked: the name in the token, or `command line`. */
  readonly by: string;
  readonly at: Nanoseconds;
  /** Builds that it holds at most, all together. */
  readonly maxCount: number;
  /** Builds that it has held. */
  readonly count: number;
  /** Seconds from the end of a build; 0: until it is deleted. */
  readonly expiration: number;
  /** Those that are held now, oldest first. */
  readonly held: readonly HeldBuild[];
}

/** What a filter looks at. */
export interface FailedBuild {
  readonly tenant: TenantName;
  readonly project: string;
  readonly job: string;
  /** Its host's name for the change; undefined: it is a ref. */
  readonly change: string | undefined;
  readonly ref: string | undefined;
}

/** Whether it is about the build, and holds more. */
export function wantsBuild(hold: HoldRequest, build: FailedBuild): boolean {
  const isOfJob = hold.tenant === build.tenant && hold.project === build.project && hold.job === build.job;
  return isOfJob && hold.count < hold.maxCount && fits(hold.filter, build);
}

function fits(filter: HoldFilter, { change, ref = '' }: FailedBuild): boolean {
  switch (filter.on) {
    case 'all':
      return true;
    case 'change':
      return change === filter.change;
    case 'ref': {
      const regex = compileRegex(filter.ref);
      return regex.kind === 'regex' && regex.test(ref);
    }
  }
}

/** Zuul's `ref_filter`. */
export function filterText(filter: HoldFilter): string {
  return filter.on === 'all' ? '.*' : filter.on === 'change' ? `change ${filter.change}` : filter.ref;
}

/** With one more build. */
export function withHeld(hold: HoldRequest, build: HeldBuild): HoldRequest {
  return { ...hold, count: hold.count + 1, held: [...hold.held, build] };
}

/** When one of its builds expires; undefined: when it is deleted. */
export function heldUntil(
  { expiration }: Pick<HoldRequest, 'expiration'>,
  { at }: Pick<HeldBuild, 'at'>,
): Nanoseconds | undefined {
  return expiration === 0 ? undefined : addMilliseconds(at, expiration * 1000);
}

/** When its first build expires; undefined: none does. */
export function firstExpiry(hold: HoldRequest): Nanoseconds | undefined {
  const [first] = hold.held;
  return first === undefined ? undefined : heldUntil(hold, first);
}

/** It holds nothing, and will hold nothing more. */
export function isOver({ held, count, maxCount }: HoldRequest): boolean {
  return held.length === 0 && count >= maxCount;
}
