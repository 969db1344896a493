import { expect, test } from 'vitest';
import { type WebhookFacts, webhookFindings } from '../../../../../drivers/github/online/webhook-findings.ts';
import { APP_EVENTS } from '../../../../../drivers/github/permissions.ts';
import type { PipelineUse } from '../../../../../src/driver/online-check.ts';
import { project } from '../language/pull.ts';

const url = 'https://gate.example.org/api/connection/github/payload';
const good: WebhookFacts = {
  connection: 'github',
  isTaken: true,
  events: APP_EVENTS,
  hook: { url, contentType: 'json' },
};

function texts(
  facts: Partial<WebhookFacts>,
  pipelines: readonly Partial<PipelineUse>[] = [],
): readonly string[] {
  const uses = pipelines.map((each, index) => ({
    ...({ tenant: 'acme', pipeline: `p${index}`, mergeMode: 'merge', reporters: [], success: [] } as const),
    ...{ triggers: [], requirements: [], ...each },
  }));
  return webhookFindings([{ project, defaultBranches: [], pipelines: uses }], { ...good, ...facts }).map(
    ({ severity, text }) => `${severity}: ${text}`,
  );
}

test('a webhook that brings all events to the connection has no findings', () => {
  expect(texts({}, [{ triggers: [{ event: 'pull_request' }], requirements: [{ label: ['gate'] }] }])).toEqual(
    [],
  );
});

test.each([
  [{ event: 'pull_request', action: 'opened' }, 'pull_request'],
  [{ event: 'pull_request' }, 'pull_request'],
  [{ event: 'pull_request', action: 'comment', comment: 'recheck' }, 'issue_comment'],
  [{ event: 'pull_request', comment: 'recheck' }, 'issue_comment'],
  [{ event: 'pull_request', action: 'status' }, 'status'],
  [{ event: 'pull_request_review', action: 'submitted' }, 'pull_request_review'],
  [{ event: 'check_run' }, 'check_run'],
  [{ event: 'merge_group' }, 'merge_group'],
])('the trigger %j needs %s', (trigger, event) => {
  expect(texts({ events: ['push'] }, [{ triggers: [trigger] }])).toEqual([
    `error: the App does not receive the event ${event}, needed by acme/p0: subscribe to it in the App's settings, under "Permissions & events"`,
  ]);
  expect(texts({ events: ['push', event] }, [{ triggers: [trigger] }])).toEqual([]);
});

test('requirements need the events that change their answer, and pipelines with the same need are named together', () => {
  const review = { requirements: [{ review: { type: 'approved' } }] };
  const status = { triggers: [{ event: 'push', require: { status: 'ci:build:success' } }] };
  const found = texts({ events: ['push'] }, [review, review, status]);
  expect(found.map(each => /event (\w+), needed by ([^:]*):/.exec(each)?.slice(1))).toEqual([
    ['pull_request_review', 'acme/p0, acme/p1'],
    ['status', 'acme/p2'],
    ['check_run', 'acme/p2'],
  ]);
});

test('configuration needs pushes', () => {
  expect(texts({ events: [] })).toEqual([
    expect.stringContaining('the event push, needed by configuration in'),
  ]);
});

test.each<readonly [string, Partial<WebhookFacts>, RegExp]>([
  ['no webhook_token', { isTaken: false }, /^warning: .*write webhook_token.*\[connection github\]/],
  ['no URL', { hook: { url: null, contentType: 'json' } }, /^warning: the App has no webhook: .*payload/],
  [
    'the address of another connection',
    { connection: 'hub' },
    /^warning: .* at \/api\/connection\/hub\/payload/,
  ],
  ['forms in place of JSON', { hook: { url, contentType: 'form' } }, /^error: .*application\/json/],
  ['a webhook that is not shown', { hook: null }, /^warning: GitHub does not show/],
])('%s is named with what to do', (_, facts, text) => {
  expect(texts(facts)).toEqual([expect.stringMatching(text)]);
});
