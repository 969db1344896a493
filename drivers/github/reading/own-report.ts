/**
 * Which report of ours an event shows, for the bound on pipelines that trigger each other. Comments of ours are no events.
 *
 * A label that a reading shows without its webhook may be of another: it counts as ours, because labels of others come with a webhook
 * that names them, and ours may be lost.
 */

import type { GithubEventFacts } from '../language/event-facts.ts';
import type { PullReading } from './read-pull.ts';

/** `ownReport` of the trigger event. @param us as whom the connection writes. */
export function ownReportOf(
  facts: GithubEventFacts,
  us: Pick<PullReading['us'], 'login'>,
): { readonly ownReport?: string } {
  const isByUs = facts.actor === null || facts.actor.login === us.login;
  switch (facts.action) {
    case 'status':
    case 'completed':
      return facts.ours === undefined ? {} : { ownReport: facts.ours };
    case 'labeled':
    case 'unlabeled':
      return isByUs ? { ownReport: `${facts.action} ${facts.label}` } : {};
    case 'submitted':
    case 'dismissed':
      return isByUs ? { ownReport: `review ${facts.state}` } : {};
    default:
      return {};
  }
}
