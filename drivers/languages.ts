/** What pipelines may say about connections of each driver. Threads that build layouts load this module by its URL. */
import type { DriverLanguages } from '../src/driver/driver.ts';
import { gerritLanguages } from './gerrit/languages.ts';
import { gitLanguages } from './git/languages.ts';
import { githubLanguages } from './github/languages.ts';

/** Of every driver in `index.ts`, which takes them from the same objects. */
export const languages: readonly DriverLanguages[] = [gitLanguages, githubLanguages, gerritLanguages];
