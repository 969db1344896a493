import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createLog, type LogOptions } from '../../../src/cmd/log.ts';
import { derivedUuid } from '../../../src/lib/ids.ts';
import type { Log } from '../../../src/lib/log.ts';
import { buildLogFacts, itemLogFacts } from '../../../src/tracing/log-facts.ts';

function linesOf(format: LogOptions['format'], write: (log: Log) => void): readonly string[] {
  const stream = new PassThrough();
  write(createLog({ level: 'info', format, stream }));
  return String(stream.read() ?? '')
    .trimEnd()
    .split('\n');
}

const item = derivedUuid('log', 'item');
const buildset = derivedUuid('log', 'buildset');
const build = derivedUuid('log', 'build');
const change = 'acme/app master/login,3f2a91c0';

describe('the log', () => {
  it('for machines has every id in full, by the names of OpenTelemetry', () => {
    const [line] = linesOf('json', log =>
      log.child(buildLogFacts({ uuid: build, item, buildset })).info({ result: 'SUCCESS' }, 'a build ended'),
    );
    const { time, ...facts } = JSON.parse(line ?? '');
    expect(time).toMatch(/^\d{4}-\d\d-\d\dT/);
    expect(facts).toEqual({
      level: 30,
      trace_id: item,
      span_id: build.slice(0, 16),
      item,
      buildset,
      build,
      result: 'SUCCESS',
      msg: 'a build ended',
    });
  });

  it('for people has the first eight digits of each, and none of them twice', () => {
    const lines = linesOf('pretty', log => {
      log.info({ change, ...itemLogFacts(item) }, 'the gate merged it');
      log.child(buildLogFacts({ uuid: build, item, buildset })).warn({ job: 'unit' }, 'a build was lost');
    });
    expect(lines.map(line => line.replace(/^[\d:.]+ /, ''))).toEqual([
      `info  the gate merged it  change="${change}" item=${item.slice(0, 8)}`,
      `warn  a build was lost  item=${item.slice(0, 8)} buildset=${buildset.slice(0, 8)} build=${build.slice(0, 8)} job=unit`,
    ]);
  });

  it('for people keeps the trace where nothing else says whose it is', () => {
    const [line] = linesOf('pretty', log =>
      log.info({ trace_id: item, span_id: build.slice(0, 16) }, 'reported'),
    );
    expect(line).toMatch(new RegExp(`reported  trace_id=${item.slice(0, 8)} span_id=${build.slice(0, 8)}$`));
  });
});
