/** Routes by which operators act on items and pipelines: part of the table of routes. */
import { actCostSchema } from './act-cost.ts';
import { document, flag, list, nullable, oneOf, optional, type Schema, text, whole } from './schema.ts';

/** A request that is stored, or refused. */
interface OperatorRoute {
  readonly method: 'post' | 'delete';
  readonly path: string;
  readonly summary: string;
  readonly body?: { readonly schema: Schema };
  readonly answers: {
    readonly [status: number]: { readonly schema: Schema } | { readonly media: readonly [] };
  };
  readonly refusals: readonly number[];
  readonly needsToken: true;
}

const TENANT = '/api/tenant/{tenant}';

const ACTS: readonly OperatorRoute[] = [
  {
    method: 'post',
    path: `${TENANT}/project/{project}/enqueue`,
    summary: 'Has a change, or a ref, enter a pipeline',
    body: {
      schema: document({
        pipeline: text(),
        change: optional(text()),
        ref: optional(text()),
        oldrev: optional(nullable(text())),
        newrev: optional(nullable(text())),
        parameters: optional(document({}, 'Must be empty: pipelines have none')),
      }),
    },
    answers: { 200: { schema: flag('true: the request is stored') } },
    refusals: [400, 401, 403, 404, 415],
    needsToken: true,
  },
  {
    method: 'post',
    path: `${TENANT}/project/{project}/freeze-pipeline`,
    summary: "Which parameters Zuul's form for enqueueing asks for",
    body: { schema: document({ pipeline: text(), ref: text() }) },
    answers: { 200: { schema: document({ parameters: list(document({}), 'Always empty') }) } },
    refusals: [400, 401, 403, 404, 415],
    needsToken: true,
  },
  {
    method: 'post',
    path: `${TENANT}/project/{project}/dequeue`,
    summary: 'Removes a change from a pipeline',
    body: {
      schema: document({ pipeline: text(), change: optional(text()), ref: optional(text()) }),
    },
    answers: { 200: { schema: flag('true: the request is stored') } },
    refusals: [400, 401, 403, 404, 415],
    needsToken: true,
  },
  {
    method: 'post',
    path: `${TENANT}/pipeline/{pipeline}/state`,
    summary: 'Pauses or drains a pipeline or one of its queues, or lets it go on',
    body: {
      schema: document({
        state: oneOf(['paused', 'draining', 'normal']),
        reason: optional(text('Needed unless normal')),
        queue: optional(text('Absent: the whole pipeline')),
      }),
    },
    answers: { 200: { schema: flag('true: the request is stored') } },
    refusals: [400, 401, 403, 404, 415],
    needsToken: true,
  },
  {
    method: 'post',
    path: `${TENANT}/state`,
    summary: "Zuul's state of the events of a tenant: drains its pipelines, or lets them go on",
    body: {
      schema: document({
        trigger_queue_paused: optional(flag()),
        trigger_queue_discarding: optional(flag('Refused')),
        result_queue_paused: optional(flag('Refused')),
        reason: optional(nullable(text())),
      }),
    },
    answers: { 200: { schema: flag('true: the requests are stored') } },
    refusals: [400, 401, 403, 404, 415],
    needsToken: true,
  },
  {
    method: 'post',
    path: `${TENANT}/item/{uuid}/rerun`,
    summary: 'Has the failed jobs of an item run again',
    body: { schema: document({}) },
    answers: { 200: { schema: document({ outcome: oneOf(['runs-again', 'enters-again']) }) } },
    refusals: [400, 401, 403, 404, 415],
    needsToken: true,
  },
  {
    method: 'post',
    path: `${TENANT}/project/{project}/autohold`,
    summary: 'Has the hosts of a job held when it fails',
    body: {
      schema: document({
        job: text(),
        reason: text(),
        count: whole('Builds, at most'),
        node_hold_expiration: optional(nullable(whole('Seconds; 0 or null: until it is deleted'))),
        change: optional(nullable(text('Or a ref'))),
        ref: optional(nullable(text('Expression that matches from the start of the ref'))),
      }),
    },
    answers: { 200: { schema: flag('true: the request is stored') } },
    refusals: [400, 401, 403, 404, 415],
    needsToken: true,
  },
  {
    method: 'delete',
    path: `${TENANT}/autohold/{id}`,
    summary: 'Deletes a request to hold hosts; those that it holds are cleaned and serve again',
    answers: { 204: { media: [] } },
    refusals: [400, 401, 403, 404],
    needsToken: true,
  },
  {
    method: 'post',
    path: `${TENANT}/promote`,
    summary: 'Moves changes to the heads of their queues',
    body: { schema: document({ pipeline: text(), changes: list(text()) }) },
    answers: { 200: { schema: flag('true: the request is stored') } },
    refusals: [400, 401, 403, 404, 415],
    needsToken: true,
  },
];

/** Those that can be asked what they would do. */
const WITH_COST = /\/(enqueue|dequeue|promote|rerun)$|\/pipeline\/\{pipeline\}\/state$/;

function dryRunOf(act: OperatorRoute): OperatorRoute {
  return {
    ...act,
    path: `${act.path}/dry-run`,
    summary: `Says what it would do: ${act.summary.slice(0, 1).toLowerCase()}${act.summary.slice(1)}`,
    answers: { 200: { schema: actCostSchema } },
  };
}

/** In the order of the description. */
export const OPERATOR_ROUTES: readonly OperatorRoute[] = ACTS.flatMap(act =>
  WITH_COST.test(act.path) ? [act, dryRunOf(act)] : [act],
);
