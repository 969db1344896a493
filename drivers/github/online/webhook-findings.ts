/** Whether the App's webhook brings the events that the pipelines' triggers and requirements look at. Pure. */
import type { OnlineFinding, ProjectUse } from '../../../src/driver/online-check.ts';
import { parsedBefore } from '../../../src/driver/read-mapping.ts';
import { parseGithubRequirement } from '../language/requirement-config.ts';
import { type GithubTrigger, parseGithubTrigger } from '../language/trigger-config.ts';

/** The webhook as GitHub has it, and as the connection takes it. */
export interface WebhookFacts {
  readonly connection: string;
  /** The connection has a `webhook_token`. */
  readonly isTaken: boolean;
  /** Events the App is subscribed to. */
  readonly events: readonly string[];
  /** Null: GitHub does not show it. `url` null: there is none. */
  readonly hook: { readonly url: string | null; readonly contentType: string } | null;
}

/** One for each thing to do, of the connection as a whole. */
export function webhookFindings(uses: readonly ProjectUse[], facts: WebhookFacts): readonly OnlineFinding[] {
  const found = [...eventFindings(uses, facts), ...addressFindings(facts)];
  return found.map(finding => ({ ...finding, project: null }));
}

type Finding = Omit<OnlineFinding, 'project'>;

function eventFindings(uses: readonly ProjectUse[], { events }: WebhookFacts): readonly Finding[] {
  const wantedBy = new Map<string, Set<string>>([['push', new Set(['configuration in repositories'])]]);
  for (const { tenant, pipeline, triggers, requirements } of uses.flatMap(each => each.pipelines)) {
    const wanted = [...triggers.flatMap(eventsOfTrigger), ...requirements.flatMap(eventsOfRequirement)];
    for (const event of wanted) {
      const pipelines = wantedBy.get(event) ?? new Set();
      wantedBy.set(event, pipelines.add(`${tenant}/${pipeline}`));
    }
  }
  return [...wantedBy]
    .filter(([event]) => !events.includes(event))
    .map(([event, pipelines]) => ({
      severity: 'error',
      text: `the App does not receive the event ${event}, needed by ${listed([...pipelines])}: subscribe to it in the App's settings, under "Permissions & events"`,
    }));
}

/** Names in one sentence. */
const MOST_NAMED = 5;

function listed(names: readonly string[]): string {
  const more = names.length - MOST_NAMED;
  return `${names.slice(0, MOST_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

const OF_ACTION: { readonly [action: string]: string } = { comment: 'issue_comment', status: 'status' };

function eventsOfTrigger(trigger: ProjectUse['pipelines'][number]['triggers'][number]): readonly string[] {
  const { event, action, comment, status, require, reject }: GithubTrigger = parsedBefore(
    parseGithubTrigger(trigger),
  );
  // A trigger without actions takes those that its other keys look at.
  const implied = [...(comment.length > 0 ? ['comment'] : []), ...(status.length > 0 ? ['status'] : [])];
  const actions: readonly string[] = action.length > 0 ? action : implied;
  const own = event.flatMap((each): readonly string[] =>
    each === 'pull_request' && actions.length > 0 ? actions.map(one => OF_ACTION[one] ?? each) : [each],
  );
  return [
    ...own,
    ...[require, reject].flatMap(each => (each === undefined ? [] : eventsOfRequirement(each))),
  ];
}

function eventsOfRequirement(
  requirement: ProjectUse['pipelines'][number]['requirements'][number],
): readonly string[] {
  const { review, status, label } = parsedBefore(parseGithubRequirement(requirement));
  return [
    ...(review === undefined ? [] : ['pull_request_review']),
    ...(status === undefined ? [] : ['status', 'check_run']),
    ...(label === undefined ? [] : ['pull_request']),
  ];
}

function addressFindings({ connection, isTaken, hook }: WebhookFacts): readonly Finding[] {
  const bySweep = 'until then changes are found by sweeps only, minutes later';
  if (!isTaken)
    return [
      {
        severity: 'warning',
        text: `the connection takes no webhooks: write webhook_token or webhook_token_file into [connection ${connection}]; ${bySweep}`,
      },
    ];
  if (hook === null)
    return [{ severity: 'warning', text: "GitHub does not show the App's webhook: see that it is active" }];
  const place = `/api/connection/${encodeURIComponent(connection)}/payload`;
  if (hook.url === null)
    return [
      {
        severity: 'warning',
        text: `the App has no webhook: set its URL to the address of this installation with ${place}; ${bySweep}`,
      },
    ];
  const path = URL.parse(hook.url)?.pathname ?? '';
  const wrongPath: readonly Finding[] = path.endsWith(place)
    ? []
    : [
        {
          severity: 'warning',
          text: `the App sends its webhooks to ${path}, and this connection takes them at ${place}: correct the URL in the App's settings, unless a proxy does`,
        },
      ];
  if (hook.contentType === 'json') return wrongPath;
  return [
    ...wrongPath,
    {
      severity: 'error',
      text: `the App sends its webhooks as ${hook.contentType}: set the content type to application/json`,
    },
  ];
}
