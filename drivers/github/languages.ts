/** What pipelines may say about connections of the `github` driver. */
import type { DriverLanguages } from '../../src/driver/driver.ts';
import { githubLandingMode, parseGithubReporter } from './language/reporter-config.ts';
import { parseGithubRequirement } from './language/requirement-config.ts';
import { githubRequirements } from './language/requirement-met.ts';
import { parseGithubTrigger } from './language/trigger-config.ts';
import { githubTriggerMatches } from './language/trigger-matches.ts';

/** Part of the driver, and loaded without the rest of it by threads. */
export const githubLanguages: DriverLanguages = {
  name: 'github',
  config: {
    parseTrigger: parseGithubTrigger,
    parseRequirement: parseGithubRequirement,
    parseReporter: parseGithubReporter,
    matches: githubTriggerMatches,
    ...githubRequirements,
    landingMode: githubLandingMode,
  },
};
