/**
 * Check 19: switched off, tracing makes no connection, leaves no row, and passes nothing to jobs; context that the executor itself got
 * of a trace reaches its jobs unchanged. `OTEL_SDK_DISABLED` means it only when it is `true`, and where the
 * file does not say `enabled = true`.
 */
import path from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { parseSettings } from '../../src/settings/parse-settings.ts';
import { classicLayout } from '../scenario/layouts.ts';
import { DEADLINE } from '../scenario/observer.ts';
import { openWorld } from '../scenario/open-world.ts';
import { rowsEverWritten } from './rows-ever-written.ts';

const INBOUND = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

afterEach(() => vi.unstubAllEnvs());

test.each([
  ['nothing of a trace reaches a job', undefined],
  ['a job gets the trace its executor was started in', INBOUND],
])('check 19: tracing that is off is silent, and %s', { timeout: 3 * DEADLINE }, async (_, inbound) => {
  vi.stubEnv('TRACEPARENT', inbound);
  const world = await openWorld({ layout: classicLayout(), tracingOff: true }, { kind: 'embedded' });
  try {
    world.free();
    await world.propose('A');
    await world.approve('A');
    await world.leaves('A', 'SUCCESS');
    expect(world.stage.builds.length).toBeGreaterThan(0);
    for (const { uuid } of world.stage.builds) {
      const log = await world.api.text(`/api/tenant/tenant-one/build/${uuid}/log`);
      expect(/^.*traceparent (.*)$/m.exec(log)?.[1] ?? 'no such line').toBe(inbound ?? '');
    }
    expect(world.observer.view()?.tracing).toBeNull();
    await world.service.close();
    expect(world.sink.connections).toBe(0);
    expect(await rowsEverWritten(path.dirname(path.dirname(world.config)))).toBe(0);
  } finally {
    await world[Symbol.asyncDispose]();
  }
});

describe('check 19: whether tracing is on', () => {
  const conf = '[scheduler]\ntenant_config = tenants.yaml\n';
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4317' };
  test.each([
    ['no endpoint is known', conf, {}, 'off'],
    ['a variable names one', conf, endpoint, 'on'],
    ['OTEL_SDK_DISABLED is true', conf, { ...endpoint, OTEL_SDK_DISABLED: 'true' }, 'off'],
    ['OTEL_SDK_DISABLED is TRUE', conf, { ...endpoint, OTEL_SDK_DISABLED: 'TRUE' }, 'off'],
    ['OTEL_SDK_DISABLED is 1', conf, { ...endpoint, OTEL_SDK_DISABLED: '1' }, 'on'],
    ['OTEL_SDK_DISABLED is empty', conf, { ...endpoint, OTEL_SDK_DISABLED: '' }, 'on'],
    [
      'enabled is true, regardless of OTEL_SDK_DISABLED',
      `${conf}[tracing]\nenabled = true\n`,
      { ...endpoint, OTEL_SDK_DISABLED: 'true' },
      'on',
    ],
    ['enabled is false', `${conf}[tracing]\nenabled = false\n`, endpoint, 'off'],
    ['the exporter is none', conf, { ...endpoint, OTEL_TRACES_EXPORTER: 'none' }, 'off'],
  ])('%s', (_, text, environment, expected) => {
    const parsed = parseSettings({
      content: new TextEncoder().encode(text),
      file: 'gatehouse.conf',
      directory: '/etc/gatehouse',
      environment,
    });
    expect(parsed.kind === 'settings' ? parsed.settings.tracing.kind : parsed).toBe(expected);
  });
});
