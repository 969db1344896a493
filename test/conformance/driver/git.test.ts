import { openGitHost } from './git-host.ts';
import { describeDriver } from './suite.ts';

describeDriver('git', openGitHost);
