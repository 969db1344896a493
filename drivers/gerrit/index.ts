/**
 * The `gerrit` driver: changes of a Gerrit, 3.2 and newer.
 *
 * A line of the event stream only says that something happened to a change. The change is read, and what happened follows from comparing it
 * with what is remembered: so a lost, doubled, late or swapped event ends in the same state, and an hour without the stream loses
 * nothing. Results come back as votes and messages; what passes the gate is submitted by Gerrit.
 *
 *   options.ts                `[connection NAME]`; gitcookies.ts
 *   connection.ts             builds a connection from the parts
 *   facts.ts                  what is kept of a change
 *   intake/                   stream lines and webhooks, reduced to what has to be read
 *   listener/                 the stream held open, and passes over what it did not announce
 *   reading/                  events → changes and refs as Gerrit has them → what happened
 *   languages.ts, language/   what pipelines say: triggers, requirements, reporters
 *   reporting/                votes, messages, comments on lines
 *   landing/                  submitting, and before it whether Gerrit would submit
 *   online/                   whether account, labels and rights serve what pipelines want
 *   api/                      the REST client; open-client.ts maps it. api/ssh/ answers the same requests where there is a key alone
 *   ssh/                      SSH itself: connections, host keys, commands
 *   remote.ts                 where git finds a project
 *   usage.ts                  what we ask of Gerrit, for metrics
 */
import { readFileSync } from 'node:fs';
import type { Driver } from '../../src/driver/driver.ts';
import { gerritMergeability } from './landing/can-land.ts';
import { gerritLanguages } from './languages.ts';
import { readGerritOptions } from './options.ts';

/** Listed in `drivers/index.ts`. */
export const gerritDriver: Driver = {
  ...gerritLanguages,
  eventSpanKind: 'GerritEvent',
  mergeability: gerritMergeability,
  async connect(name, options, deps) {
    const read = readGerritOptions(options, path => readFileSync(path, 'utf8'));
    if (read === undefined) return undefined;
    const { createGerritConnection } = await import('./connection.ts');
    return createGerritConnection(name, read, deps);
  },
};
