/** Items, views and decisions as the API gives them, and streams that remember what was written. */

import type { LiveItem } from '../../../src/api/live-item.ts';
import type { LiveJob } from '../../../src/api/live-job.ts';
import type { FollowedTenant } from '../../../src/cmd/client/follow.ts';
import type { Io } from '../../../src/cmd/terminal/io.ts';
import { fromMilliseconds, type Nanoseconds, parseNanoseconds } from '../../../src/lib/clock.ts';
import type { Uuid } from '../../../src/lib/ids.ts';
import type { ChangeKey } from '../../../src/model/change.ts';
import type { Decision } from '../../../src/model/decision.ts';
import { projectKey } from '../../../src/model/project.ts';

/** 2026-11-20 18:00:00 UTC, milliseconds. */
export const NOW = Date.UTC(2026, 10, 20, 18);

export function job(name: string, facts: Partial<LiveJob> = {}): LiveJob {
  return {
    name,
    voting: true,
    attempts: 3,
    dependencies: [],
    expectedMs: null,
    waitingFor: null,
    build: null,
    state: 'waiting',
    attempt: 1,
    result: null,
    requestedAt: null,
    startedAt: null,
    endedAt: null,
    worker: null,
    detail: null,
    ...facts,
  } as LiveJob;
}

export const passed = (name: string, ms: number) =>
  job(name, { state: 'completed', result: 'SUCCESS', startedAt: NOW - 60_000, endedAt: NOW - 60_000 + ms });
export const failed = (name: string, ms: number, detail: string | null = null) =>
  job(name, {
    state: 'completed',
    result: 'FAILURE',
    startedAt: NOW - 60_000,
    endedAt: NOW - 60_000 + ms,
    detail,
  });
export const running = (name: string, ms: number, expectedMs: number | null = null) =>
  job(name, { state: 'started', startedAt: NOW - ms, expectedMs });

export function item(digit: string, change: string, facts: Partial<LiveItem> = {}): LiveItem {
  const [project = '', name = ''] = change.split(' ');
  return {
    uuid: digit.repeat(32) as Uuid,
    tenant: 'acme',
    pipeline: 'gate',
    queue: 'queue integrated',
    hostWait: null,
    withheld: null,
    role: 'live',
    changes: [
      {
        text: `${change},${digit.repeat(8)}`,
        project,
        name,
        id: name,
        subject: `Subject of ${name}`,
        owner: 'Ada',
        url: null,
      },
    ],
    dependsOn: [],
    enqueuedAt: NOW - 75_000,
    behind: null,
    active: true,
    state: { name: 'running', since: NOW - 60_000, subject: null },
    timeline: [],
    failing: [],
    buildset: { uuid: 'b'.repeat(32) as Uuid, number: 1, stage: 'running' },
    jobs: [],
    jobDecisions: [],
    resets: [],
    left: null,
    testedBefore: null,
    traceUrl: null,
    tracesUrl: null,
    ...facts,
  };
}

/** A dependent gate with these items in one queue, and a check pipeline that is empty. */
export function gateView(items: readonly LiveItem[], facts: Partial<FollowedTenant> = {}): FollowedTenant {
  const common = {
    description: null,
    disabled: false,
    halts: [],
    events: 0,
    notices: { stuckAfter: 1_800_000, slippedBy: 1_800_000 },
  };
  const queues =
    items.length === 0
      ? []
      : [{ key: 'integrated', name: 'integrated', window: 20, items: items.map(({ uuid }) => uuid) }];
  return {
    tenant: {
      name: 'acme',
      projects: 3,
      configErrors: 0,
      semaphoreWaits: 0,
      reconfiguredAt: NOW,
      triggerEvents: 0,
      managementEvents: 0,
      connectionEvents: {},
      missing: [],
      awaySince: null,
      tracing: null,
    },
    pipelines: [
      { ...common, name: 'check', position: 0, manager: 'independent', queues: [] },
      { ...common, name: 'gate', position: 1, manager: 'dependent', queues },
    ],
    items: new Map(items.map(each => [each.uuid, each])),
    tracing: null,
    sentAt: NOW,
    forecasts: new Map(),
    ...facts,
  };
}

/** @param seconds before {@link NOW}. */
export function before(seconds: number): Nanoseconds {
  return fromMilliseconds(NOW - seconds * 1000);
}

export function decision(
  seconds: number,
  code: Decision['code'],
  pipeline: string,
  text: string,
  facts: Partial<Decision> = {},
): Decision {
  const project = projectKey({ connection: 'local', name: 'acme/app' });
  return {
    at: before(seconds),
    code,
    tenant: 'acme',
    pipeline,
    project,
    change: `${project}#master/login` as ChangeKey,
    changeText: 'acme/app master/login,11111111',
    item: null,
    event: null,
    text,
    ...facts,
  };
}

export interface Recorded extends Io {
  readonly out: () => string;
  readonly err: () => string;
}

export function recordingIo(
  environment: Io['environment'] = {},
  terminal: { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number } = {},
): Recorded {
  const written = { out: '', err: '' };
  return {
    stdout: {
      write: text => {
        written.out += text;
      },
      ...terminal,
    },
    stderr: {
      write: text => {
        written.err += text;
      },
    },
    environment,
    clock: { now: () => parseNanoseconds(fromMilliseconds(NOW)), monotonic: () => 0 },
    interrupted: () => new AbortController().signal,
    out: () => written.out,
    err: () => written.err,
  };
}
