/**
 * All metrics. Counters are written without `_total`, which the exposition adds; times are in seconds.
 *
 * Durations of runs follow OpenTelemetry's `cicd.pipeline.run.duration`: a queue item is a run, its states are pending (nothing
 * of it is tested yet), executing (from the first build on) and finalizing (the result is being reported to the code host).
 * `doc/reference/metrics.md` explains them; a test compares.
 */
export interface MetricDefinition {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  /** One line for operators, shown with the metric. */
  readonly help: string;
  readonly labels: readonly string[];
  /** Upper bounds of a histogram's buckets. */
  readonly buckets?: readonly number[];
}

const PIPELINE = ['tenant', 'pipeline'] as const;
/** From a moment to a day. */
const LONG = [1, 5, 15, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14_400, 28_800, 86_400];
/** From a few milliseconds to minutes. */
const SHORT = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
const COUNTS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000];

/** A metric that is not in this table cannot be recorded. */
export const METRICS = {
  cicd_pipeline_run_duration_seconds: {
    kind: 'histogram',
    help: 'Time queue items that left spent in each state of a run, by result',
    labels: [...PIPELINE, 'state', 'result'],
    buckets: LONG,
  },
  cicd_pipeline_run_active: {
    kind: 'gauge',
    help: 'Queue items in the pipeline by state of a run',
    labels: [...PIPELINE, 'state'],
  },
  gatehouse_item_duration_seconds: {
    kind: 'histogram',
    help: 'Time from enqueue to dequeue of queue items that left, by result',
    labels: [...PIPELINE, 'result'],
    buckets: LONG,
  },
  gatehouse_wait_seconds: {
    kind: 'counter',
    help: 'Time queue items that left spent waiting, by what they waited for',
    labels: [...PIPELINE, 'state'],
  },
  gatehouse_queue_length: {
    kind: 'gauge',
    help: 'Queue items in each change queue',
    labels: [...PIPELINE, 'queue'],
  },
  gatehouse_queue_window: {
    kind: 'gauge',
    help: 'Size of the window of each change queue that holds something; 0 is without limit',
    labels: [...PIPELINE, 'queue'],
  },
  gatehouse_pipeline_halts: {
    kind: 'gauge',
    help: 'Queues that operators paused or drained; a whole pipeline counts as one',
    labels: [...PIPELINE, 'mode'],
  },
  gatehouse_host_waiting_items: {
    kind: 'gauge',
    help: 'Queue items that wait for a code host in trouble, by the last reason',
    labels: [...PIPELINE, 'connection', 'reason'],
  },
  gatehouse_semaphore_holders: {
    kind: 'gauge',
    help: 'Builds that hold a slot of a semaphore',
    labels: [...PIPELINE, 'semaphore'],
  },
  gatehouse_semaphore_playbook_holders: {
    kind: 'gauge',
    help: 'Playbooks of an executor that hold a slot of a semaphore',
    labels: ['executor', 'tenant', 'semaphore'],
  },
  gatehouse_semaphore_waiting_jobs: {
    kind: 'gauge',
    help: 'Jobs that could start but for a semaphore',
    labels: [...PIPELINE, 'semaphore'],
  },
  gatehouse_nodes: {
    kind: 'gauge',
    help: 'Hosts of jobs by state: ready, in-use, hold (by a person), failed (out of service)',
    labels: ['state'],
  },
  gatehouse_node_requests: {
    kind: 'gauge',
    help: 'Builds that wait for hosts (requested) or have them (fulfilled)',
    labels: ['state'],
  },
  gatehouse_node_wait_seconds: {
    kind: 'histogram',
    help: 'Time from the request for a build until it got hosts, of builds that got some',
    labels: [...PIPELINE],
    buckets: LONG,
  },
  gatehouse_connection_lanes_waiting: {
    kind: 'gauge',
    help: 'Repositories, or other lanes of a connection, whose events wait for a code host in trouble, by the last reason',
    labels: ['connection', 'reason'],
  },
  gatehouse_connection_serving: {
    kind: 'gauge',
    help: '0 while the code host of a connection limits or fails some repository, else 1',
    labels: ['connection'],
  },
  gatehouse_connection_events_missed: {
    kind: 'counter',
    help: 'Changes found by polling before the code host announced them',
    labels: ['connection'],
  },
  gatehouse_timer_events_missed: {
    kind: 'counter',
    help: 'Events of timers that did not come, by branch: no scheduler held the tenant, or the code host was away for an hour',
    labels: [...PIPELINE],
  },
  gatehouse_messages: {
    kind: 'counter',
    help: 'Tries to send a report to a connection that only takes reports, by what came of it: done, later, failed',
    labels: ['connection', 'outcome'],
  },
  gatehouse_notices: {
    kind: 'counter',
    help: 'Messages that rules of [notify NAME] asked for, by event: requested, left-out because the rule had too many in an hour',
    labels: ['rule', 'event', 'outcome'],
  },
  gatehouse_traces_judged: {
    kind: 'counter',
    help: 'Traces that ended and were judged before their spans were sent',
    labels: [],
  },
  gatehouse_trace_faults: {
    kind: 'counter',
    help: 'Faults in those traces: orphans, outside their parent, untiled time of items, dangling links',
    labels: ['fault'],
  },
  gatehouse_trace_untiled_seconds: {
    kind: 'counter',
    help: 'Time of items that no wait and no work covers',
    labels: [],
  },
  gatehouse_internal_events_missed: {
    kind: 'counter',
    help: 'Events of the connection zuul that were not made, by change: there were too many, or a code host was away for an hour',
    labels: ['tenant', 'event'],
  },
  gatehouse_connection_last_event_timestamp_seconds: {
    kind: 'gauge',
    help: 'When the last event of the code host that was processed came in, seconds since 1970',
    labels: ['connection'],
  },
  gatehouse_connection_requests: {
    kind: 'counter',
    help: 'Requests to the API of a code host, by operation and HTTP status; none: no answer came',
    labels: ['connection', 'operation', 'status'],
  },
  gatehouse_connection_budget_remaining: {
    kind: 'gauge',
    help: 'What a code host said is left of the limit of an account, until the limit is renewed',
    labels: ['connection', 'installation', 'resource'],
  },
  gatehouse_connection_reports_closed: {
    kind: 'counter',
    help: 'Reports in progress at a code host whose item was gone, ended by a sweep',
    labels: ['connection'],
  },
  gatehouse_connection_stream_connected: {
    kind: 'gauge',
    help: '1 while the event stream of a code host is open, else 0',
    labels: ['connection'],
  },
  gatehouse_connection_stream_last_line_timestamp_seconds: {
    kind: 'gauge',
    help: 'When the last event came over the stream of a code host, of any project, seconds since 1970',
    labels: ['connection'],
  },
  gatehouse_connection_stream_gaps: {
    kind: 'counter',
    help: 'How often the event stream of a code host broke after it had been open',
    labels: ['connection'],
  },
  gatehouse_event_age_seconds: {
    kind: 'histogram',
    help: 'Time from the making of an event at the code host to its arrival by webhook, by two clocks',
    labels: ['connection'],
    buckets: LONG,
  },
  gatehouse_resets: {
    kind: 'counter',
    help: 'Buildsets discarded by a reset, by cause and culprit job',
    labels: [...PIPELINE, 'cause', 'job'],
  },
  gatehouse_landed_trees_differ: {
    kind: 'counter',
    help: 'Branches that a code host landed with other contents than were tested',
    labels: PIPELINE,
  },
  gatehouse_lost_build_seconds: {
    kind: 'counter',
    help: 'Time executors spent on builds discarded by a reset, by culprit job',
    labels: [...PIPELINE, 'job'],
  },
  gatehouse_builds: {
    kind: 'counter',
    help: 'Builds that ended',
    labels: [...PIPELINE, 'job', 'result'],
  },
  gatehouse_build_duration_seconds: {
    kind: 'histogram',
    help: 'Time from start to end of builds that an executor had taken',
    labels: [...PIPELINE, 'result'],
    buckets: LONG,
  },
  gatehouse_executor_queue_seconds: {
    kind: 'histogram',
    help: 'Time builds waited until an executor took them',
    labels: [...PIPELINE],
    buckets: SHORT,
  },
  gatehouse_merge_seconds: {
    kind: 'histogram',
    help: 'Time from asking a merger to its answer',
    labels: [...PIPELINE, 'outcome'],
    buckets: SHORT,
  },
  gatehouse_event_latency_seconds: {
    kind: 'histogram',
    help: 'Time from receiving an event to enqueueing its change',
    labels: ['connection', ...PIPELINE],
    buckets: SHORT,
  },
  gatehouse_turn_seconds: {
    kind: 'histogram',
    help: 'Time of one turn of a pipeline, from reading its events to the commit',
    labels: [...PIPELINE],
    buckets: SHORT,
  },
  gatehouse_turn_operations: {
    kind: 'histogram',
    help: 'Operations in the commit of one turn',
    labels: [...PIPELINE],
    buckets: COUNTS,
  },
  gatehouse_outbox_rows: {
    kind: 'gauge',
    help: 'Rows that wait in an outbox, as of the last listing',
    labels: ['outbox'],
  },
  gatehouse_outbox_bytes: {
    kind: 'gauge',
    help: 'Bytes that wait in an outbox, as of the last listing',
    labels: ['outbox'],
  },
  gatehouse_outbox_oldest_seconds: {
    kind: 'gauge',
    help: 'Age of the oldest row that waits in an outbox; 0 when none does',
    labels: ['outbox'],
  },
  gatehouse_history_pruned: {
    kind: 'counter',
    help: 'Items, decisions and traces deleted from the history for their age or number',
    labels: ['kind'],
  },
  gatehouse_logs_pruned: {
    kind: 'counter',
    help: 'Logs of builds removed for their age',
    labels: ['executor'],
  },
  gatehouse_logs_stored: {
    kind: 'counter',
    help: 'Attempts to store what a build left in the bucket of [log_store]',
    labels: ['executor', 'outcome'],
  },
  gatehouse_logs_waiting: {
    kind: 'gauge',
    help: 'Builds that have ended and whose logs are not in the bucket yet',
    labels: ['executor'],
  },
  gatehouse_logs_waiting_bytes: {
    kind: 'gauge',
    help: 'Bytes of logs that wait for the bucket after a failed attempt',
    labels: ['executor'],
  },
  gatehouse_logs_waiting_oldest_seconds: {
    kind: 'gauge',
    help: 'Time since the first of the builds whose logs wait for the bucket ended; 0 when none does',
    labels: ['executor'],
  },
  gatehouse_spans_sent: { kind: 'counter', help: 'Spans the collector accepted', labels: [] },
  gatehouse_span_requests_failed: {
    kind: 'counter',
    help: 'Requests to the collector that failed and were, or will be, tried again',
    labels: [],
  },
  gatehouse_span_requests_partial: {
    kind: 'counter',
    help: 'Requests the collector accepted only in part',
    labels: [],
  },
  gatehouse_spans_lost: {
    kind: 'counter',
    help: 'Spans that will never arrive, by reason',
    labels: ['reason'],
  },
  gatehouse_job_spans: {
    kind: 'counter',
    help: 'Spans that jobs handed in to the relay of this executor: taken, or why they were rejected',
    labels: ['outcome'],
  },
  gatehouse_builds_running: {
    kind: 'gauge',
    help: 'Builds this executor works on',
    labels: ['executor'],
  },
  gatehouse_builds_paused: {
    kind: 'gauge',
    help: 'Builds that pause on this executor for those that depend on them',
    labels: ['executor'],
  },
  gatehouse_executor_shut: {
    kind: 'gauge',
    help: 'Whether a sensor keeps this executor from taking builds (1) or not (0)',
    labels: ['executor', 'sensor'],
  },
  gatehouse_build_slots: {
    kind: 'gauge',
    help: 'Maximum number of builds this executor works on',
    labels: ['executor'],
  },
  gatehouse_requests: {
    kind: 'gauge',
    help: 'Requests to mergers or executors that have no result yet, as this web sees them',
    labels: ['kind'],
  },
  gatehouse_events_waiting: {
    kind: 'gauge',
    help: 'Events that wait in the queues of connections, tenants or pipelines, as this web sees them',
    labels: ['queue'],
  },
  gatehouse_webhooks: {
    kind: 'counter',
    help: 'Webhooks by outcome',
    labels: ['connection', 'outcome'],
  },
  gatehouse_component_ready: {
    kind: 'gauge',
    help: '1 while a component of this process does its work, else 0',
    labels: ['component'],
  },
  gatehouse_store_session: {
    kind: 'gauge',
    help: '1 while a session of this process with the store has contact, else 0',
    labels: ['session'],
  },
  gatehouse_metric_labels_overflowed: {
    kind: 'counter',
    help: 'How often a label value was replaced by "other", because there were too many values already',
    labels: ['label'],
  },
} as const satisfies { readonly [name: string]: MetricDefinition };

/** As written in {@link METRICS}, counters without `_total`. */
export type MetricName = keyof typeof METRICS;
