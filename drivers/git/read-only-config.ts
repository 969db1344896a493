/**
 * What pipelines may say about a connection without `proposals`: `trigger: {upstream: [{event: ref-updated}]}`, and nothing
 * else. Nothing is proposed or approved there, and nothing is written to it.
 */
import type { DriverConfigLanguage } from '../../src/driver/driver.ts';
import type { ParseResult } from '../../src/driver/parse-result.ts';
import { parseTrigger, triggerMatches } from './trigger-config.ts';

const ADVICE = 'set "proposals" in its section of gatehouse.conf, or use another connection';

function refuse(text: string, path: readonly (string | number)[] = []): ParseResult<never> {
  return { kind: 'invalid', problems: [{ path, code: 'read-only-connection', text }] };
}

/** Takes the place of the driver's `config` for connections that only read. */
export const readOnlyConfig: DriverConfigLanguage = {
  parseTrigger(value) {
    const parsed = parseTrigger(value);
    if (parsed.kind === 'invalid') return parsed;
    const other = parsed.value.event.find(event => event !== 'ref-updated');
    return other === undefined
      ? parsed
      : refuse(`this connection only reads, and has no event "${other}": only ref-updated; ${ADVICE}`, [
          'event',
        ]);
  },
  parseRequirement: () =>
    refuse(`this connection only reads, and has no changes that could meet a requirement; ${ADVICE}`),
  parseReporter: () =>
    refuse(`this connection only reads: nothing can be reported or merged there; ${ADVICE}`),
  matches: triggerMatches,
  meets: () => ({ met: true, text: 'nothing is required' }),
  landingMode: () => null,
};
