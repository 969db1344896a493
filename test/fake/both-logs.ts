import type { Log } from '../../src/lib/log.ts';

/** Logs every line to both. */
export function bothLogs(one: Log, other: Log): Log {
  const both = (level: 'debug' | 'info' | 'warn' | 'error') => (facts: object, text: string) => {
    one[level](facts, text);
    other[level](facts, text);
  };
  return {
    debug: both('debug'),
    info: both('info'),
    warn: both('warn'),
    error: both('error'),
    child: facts => bothLogs(one.child(facts), other.child(facts)),
  };
}
