import { openGitHost } from './git-host.ts';
import { describeLandingTogether } from './landing-together.ts';
import { describeDriver } from './suite.ts';

describeDriver('git', openGitHost);
describeLandingTogether('git', openGitHost);
