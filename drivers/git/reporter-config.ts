/** `success: {local: {merge: true, note: true}}` */
import { compiledOnce } from '../../src/driver/compiled-once.ts';
import type { ParseResult } from '../../src/driver/parse-result.ts';
import { parsedBefore, readMapping } from '../../src/driver/read-mapping.ts';
import type { Json } from '../../src/model/job.ts';
import type { LandingMode } from '../../src/model/landed.ts';
import type { ReportAction } from '../../src/model/pipeline.ts';

type ReporterConfig = {
  /** Lands the tested commit. Default false. */
  readonly merge: boolean;
  /** Adds the result to the change's commit as a git note; undefined: at the end, not at the start. */
  readonly note?: boolean;
};

/** See `DriverConfigLanguage`; what it returns parses to itself. */
export function parseReporter(value: Json): ParseResult<ReporterConfig> {
  const mapping = readMapping(value, ['merge', 'note'], 'a reporter of a git connection');
  const note = mapping.boolean('note');
  return mapping.result({
    merge: mapping.boolean('merge') ?? false,
    ...(note === undefined ? {} : { note }),
  });
}

const stored = compiledOnce(value => parsedBefore(parseReporter(value)));

/** Null: the reporter does not merge. @throws Error for a config that was not parsed before. */
export function landingMode(config: Json): LandingMode | null {
  return stored(config).merge ? 'push' : null;
}

/** Whether this action is noted. @throws Error for a config that was not parsed before. */
export function reporterNotes(config: Json, action: ReportAction): boolean {
  return stored(config).note ?? (action !== 'enqueue' && action !== 'start');
}
