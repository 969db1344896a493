/** GitHub, in both landing modes. */
import { openGithubHost } from './github-host.ts';
import { describeDriver } from './suite.ts';

describeDriver('github, which is pushed to', () => openGithubHost('push'));
describeDriver('github, which merges', () => openGithubHost('api'));
