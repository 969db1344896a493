/**
 * The `github` driver: pull requests of github.com and of GitHub Enterprise Server.
 *
 * GitHub is read again at every event; a webhook only says that something happened, and who did it. Results come back as check
 * runs, statuses, one comment that is edited, reviews and labels; what passes the gate is pushed to the branch, or merged by
 * GitHub.
 *
 *   options.ts, permissions.ts   `[connection NAME]`; what the App may do
 *   connection.ts                builds a connection from the parts
 *   facts.ts                     what is kept of a pull request
 *   intake/                      webhooks: verified, and reduced to what has to be read
 *   reading/                     events → pull requests, refs and rules as GitHub has them → what happened
 *   languages.ts, language/      what pipelines say: triggers, requirements, reporters
 *   reporting/                   check runs, statuses, comments, reviews, labels
 *   landing/                     landing, and before it whether GitHub would let a change land
 *   api/                         the client: credentials, budget, limits; client.ts maps it
 *   online/, sweep/              whether App and rules serve what pipelines want; what lost webhooks announced
 *   repository-names.ts, internal-branches.ts    repositories that were renamed; branches made for one change
 *   remote.ts, usage.ts          where git finds a project; what we ask of GitHub, for metrics
 */
import { readFileSync } from 'node:fs';
import type { Driver } from '../../src/driver/driver.ts';
import { githubMergeability } from './landing/can-land.ts';
import { githubLanguages } from './languages.ts';
import { readGithubOptions } from './options.ts';

/** Listed in `drivers/index.ts`. */
export const githubDriver: Driver = {
  ...githubLanguages,
  eventSpanKind: 'GithubEvent',
  mergeability: githubMergeability,
  async connect(name, options, deps) {
    const read = readGithubOptions(options, path => readFileSync(path, 'utf8'));
    if (read === undefined) return undefined;
    const { createGithubConnection } = await import('./connection.ts');
    return createGithubConnection(name, read, deps);
  },
};
