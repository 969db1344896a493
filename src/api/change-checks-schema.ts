/** What was run for a change, as Gerrit's Checks tab shows it: the document of `…/changes/<change>/checks`. */
import {
  type Document,
  document,
  flag,
  list,
  milliseconds,
  oneOf,
  optional,
  text,
  uuid,
  whole,
} from './schema.ts';

const linkSchema = document({
  url: text('http or https'),
  tooltip: text(),
  primary: flag(),
  icon: oneOf(['external', 'download', 'history']),
});
const checkResultSchema = document({
  externalId: uuid('Build, or item'),
  category: oneOf(['SUCCESS', 'INFO', 'WARNING', 'ERROR'], 'ERROR: it keeps the change from merging'),
  summary: text('One line'),
  tags: list(document({ name: text(), color: oneOf(['cyan', 'gray', 'yellow', 'pink']) })),
  links: list(linkSchema),
});
const checkRunSchema = document({
  change: optional(whole('Absent: the host does not number its changes')),
  patchset: optional(whole('Absent likewise')),
  attempt: whole('From 1, per checkName and patchset'),
  externalId: uuid('Build, or item'),
  checkName: text('Pipeline and job, or the pipeline alone'),
  checkLink: text('Page of the item'),
  status: oneOf(['SCHEDULED', 'RUNNING', 'COMPLETED']),
  statusDescription: optional(text('What it waits for')),
  statusLink: optional(text('Page of the build')),
  scheduledTimestamp: milliseconds(),
  startedTimestamp: optional(milliseconds()),
  finishedTimestamp: optional(milliseconds('Of a run that is RUNNING: an estimate')),
  results: list(checkResultSchema),
});

/** `GET …/changes/<change>/checks`. */
export const changeChecksSchema = document({
  runs: list(checkRunSchema, 'Oldest first'),
  truncated: flag('There may be older items'),
});
/** Read by `etc/gerrit/gatehouse-checks.js`. */
export type ChangeChecks = Document<typeof changeChecksSchema>;
