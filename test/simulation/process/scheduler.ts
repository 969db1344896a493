/** A scheduler process: all of the real scheduler, and the real git driver on a made-up git. */

import { landingMode, parseReporter } from '../../../drivers/git/reporter-config.ts';
import { parseRequirement, requirementMet } from '../../../drivers/git/requirement-config.ts';
import { parseTrigger, triggerMatches } from '../../../drivers/git/trigger-config.ts';
import type { Driver } from '../../../src/driver/driver.ts';
import { toMilliseconds } from '../../../src/lib/clock.ts';
import { createScheduler } from '../../../src/scheduler/scheduler.ts';
import { isSampled } from '../../../src/tracing/sampling.ts';
import { DEFAULT_SPAN_OPTIONS } from '../../../src/tracing/spans/span-options.ts';
import { layoutsInProcess } from '../../fake/layouts-in-process.ts';
import { CONNECTION, openConnection } from '../host/host-git.ts';
import type { Incarnation } from '../kernel/incarnation.ts';
import type { ProcessParts } from './parts.ts';

const driver: Driver = {
  name: 'git',
  eventSpanKind: 'GitEvent',
  config: {
    parseTrigger,
    parseRequirement,
    parseReporter,
    matches: triggerMatches,
    meets: requirementMet,
    landingMode,
  },
  connect: async () => undefined,
};

export async function runScheduler(life: Incarnation, parts: ProcessParts, stop: AbortSignal): Promise<void> {
  const store = parts.connect(life);
  const connection = openConnection(life, parts, what => parts.onEffect(life, store, what));
  const scheduler = await createScheduler({
    clock: life.clock,
    wall: () => toMilliseconds(life.clock.now()),
    ids: life.ids,
    log: life.log,
    store,
    paths: parts.paths,
    connections: new Map([[CONNECTION, connection]]),
    drivers: new Map([['git', driver]]),
    tenants: parts.tenants,
    openLayouts: drivers => layoutsInProcess(drivers, () => life.clock.monotonic()),
    places: { canonicalName: project => project },
    webRoot: 'http://gate.example.org',
    tracing: {
      spans: () => DEFAULT_SPAN_OPTIONS,
      isSampled: event => isSampled(event, parts.tracing.ratio),
      policy: () => parts.tracing,
    },
    name: life.name,
  });
  await scheduler.run(stop);
  await store.close();
}
