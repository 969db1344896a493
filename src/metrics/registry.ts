/**
 * The metrics of this process, and how they are read: OpenMetrics (with exemplars) for who asks for it, Prometheus' text format
 * for everybody else.
 *
 *     const metrics = createMetrics();
 *     metrics.record(turnMeasurements(before, draft));
 *     const { contentType, body } = await metrics.exposition(request.headers.accept);
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { createLabelGuard } from './label-guard.ts';
import type { Measurement } from './measurement.ts';
import { METRICS, type MetricDefinition, type MetricName } from './metric-table.ts';
import { plainText } from './plain-text.ts';

export interface Metrics {
  record(measurements: Iterable<Measurement>): void;
  /** What is not counted but looked up: asked at every reading. Returns how to stop. */
  source(measure: () => Iterable<Measurement>): Disposable;
  /** Forgets the gauges with these labels: somebody else tells them from now on. */
  forget(labels: { readonly [label: string]: string }): void;
  /** @param accept of the request. */
  exposition(accept: string | undefined): Promise<Exposition>;
}

/** What those need that do the work. */
export type MetricsSink = Pick<Metrics, 'record' | 'forget'>;

export interface Exposition {
  readonly contentType: string;
  readonly body: string;
}

type OpenMetricsRegistry = Registry<typeof Registry.OPENMETRICS_CONTENT_TYPE>;

type Instrument =
  | { readonly kind: 'counter'; readonly it: Counter }
  | { readonly kind: 'gauge'; readonly it: Gauge }
  | { readonly kind: 'histogram'; readonly it: Histogram };

export function createMetrics(): Metrics {
  const registry = new Registry<typeof Registry.OPENMETRICS_CONTENT_TYPE>();
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  collectDefaultMetrics({ register: registry });
  const instruments = new Map<MetricName, Instrument>();
  const gauges = new Map<string, { readonly gauge: Gauge; readonly labels: Measurement['labels'] }>();
  for (const name of metricNames()) instruments.set(name, instrument(name, METRICS[name], registry));
  const guard = createLabelGuard(label =>
    record({ metric: 'gatehouse_metric_labels_overflowed', labels: { label }, value: 1 }),
  );
  const sources = new Set<() => Iterable<Measurement>>();

  function record({ metric, labels, value, trace }: Measurement): void {
    const instrument = instruments.get(metric);
    if (instrument === undefined) throw new RangeError(`there is no metric ${metric}`);
    const bounded = Object.fromEntries(
      Object.entries(labels).map(([label, text]) => [label, guard.bounded(label, text)]),
    );
    switch (instrument.kind) {
      case 'counter':
        instrument.it.inc({ labels: bounded, value });
        return;
      case 'gauge':
        gauges.set(`${metric} ${Object.values(bounded).join(' ')}`, {
          gauge: instrument.it,
          labels: bounded,
        });
        instrument.it.set(bounded, value);
        return;
      case 'histogram':
        instrument.it.observe({
          labels: bounded,
          value,
          exemplarLabels: trace === undefined ? {} : { trace_id: trace.traceId, span_id: trace.spanId },
        });
    }
  }

  return {
    record(measurements) {
      for (const measurement of measurements) record(measurement);
    },
    source(measure) {
      sources.add(measure);
      return { [Symbol.dispose]: () => void sources.delete(measure) };
    },
    forget(labels) {
      const wanted = Object.entries(labels);
      for (const [key, { gauge, labels: own }] of gauges) {
        if (!wanted.every(([label, text]) => own[label] === text)) continue;
        gauge.remove(own);
        gauges.delete(key);
      }
    },
    async exposition(accept) {
      for (const measure of sources) for (const measurement of measure()) look(instruments, measurement);
      const text = await registry.metrics();
      return accept?.includes('application/openmetrics-text') === true
        ? { contentType: Registry.OPENMETRICS_CONTENT_TYPE, body: text }
        : { contentType: Registry.PROMETHEUS_CONTENT_TYPE, body: plainText(text) };
    },
  };
}

/** Of a source: the value as it is, also of a counter that somebody else counts. */
function look(
  instruments: ReadonlyMap<MetricName, Instrument>,
  { metric, labels, value }: Measurement,
): void {
  const instrument = instruments.get(metric);
  if (instrument?.kind === 'gauge') instrument.it.set(labels, value);
  if (instrument?.kind === 'counter') {
    instrument.it.remove(labels);
    instrument.it.inc({ labels, value });
  }
}

function instrument(
  name: MetricName,
  definition: MetricDefinition,
  registry: OpenMetricsRegistry,
): Instrument {
  const options = {
    name,
    help: definition.help,
    labelNames: [...definition.labels],
    registers: [registry],
    enableExemplars: true as const,
  };
  switch (definition.kind) {
    case 'counter':
      return { kind: 'counter', it: new Counter(options) };
    case 'gauge':
      return { kind: 'gauge', it: new Gauge(options) };
    case 'histogram':
      return {
        kind: 'histogram',
        it: new Histogram({ ...options, buckets: [...(definition.buckets ?? [])] }),
      };
  }
}

function metricNames(): readonly MetricName[] {
  const names: MetricName[] = [];
  for (const name in METRICS) if (isMetricName(name)) names.push(name);
  return names;
}

function isMetricName(name: string): name is MetricName {
  return Object.hasOwn(METRICS, name);
}
