/** All drivers there are. A new one is a folder here and a line in this list. Threads load this module by its URL. */
import type { Driver } from '../src/driver/driver.ts';
import { gerritDriver } from './gerrit/index.ts';
import { gitDriver } from './git/index.ts';
import { githubDriver } from './github/index.ts';

/** A connection names its driver in `[connection NAME] driver`. */
export const drivers: readonly Driver[] = [gitDriver, githubDriver, gerritDriver];
