/** What pipelines may say about connections of the `gerrit` driver. */
import type { DriverLanguages } from '../../src/driver/driver.ts';
import { gerritLandingMode, parseGerritReporter } from './language/reporter-config.ts';
import { parseGerritRequirement } from './language/requirement-config.ts';
import { gerritRequirements } from './language/requirement-met.ts';
import { parseGerritTrigger } from './language/trigger-config.ts';
import { gerritTriggerMatches } from './language/trigger-matches.ts';

/** Part of the driver, and loaded without the rest of it by threads. */
export const gerritLanguages: DriverLanguages = {
  name: 'gerrit',
  config: {
    parseTrigger: parseGerritTrigger,
    parseRequirement: parseGerritRequirement,
    parseReporter: parseGerritReporter,
    matches: gerritTriggerMatches,
    ...gerritRequirements,
    landingMode: gerritLandingMode,
  },
};
