/** The driver's configuration language, without what opens connections: see {@link DriverLanguages}. */
import type { DriverLanguages } from '../../src/driver/driver.ts';
import { readOnlyConfig } from './read-only-config.ts';
import { landingMode, parseReporter } from './reporter-config.ts';
import { parseRequirement, requirementMet } from './requirement-config.ts';
import { parseTrigger, triggerMatches } from './trigger-config.ts';

/** Part of the driver, and loaded without the rest of it by threads. */
export const gitLanguages: DriverLanguages = {
  name: 'git',
  config: {
    parseTrigger,
    parseRequirement,
    parseReporter,
    matches: triggerMatches,
    meets: requirementMet,
    landingMode,
  },
  readOnlyConfig,
};
