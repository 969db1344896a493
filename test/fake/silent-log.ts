import type { Log } from '../../src/lib/log.ts';

/** For what must have a log and has nothing to say in a test. */
export const SILENT: Log = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  child: () => SILENT,
};
