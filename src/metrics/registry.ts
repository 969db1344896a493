/**
 * The metrics of this process, and how they are read: OpenMetrics (with exemplars) for who asks for it, Prometheus' text format
 * for everybody else.
 *
 *     const metrics = createMetrics();
 *     metrics.record(turnMeasurements(before, draft));
 *     const { contentType, body } = await metrics.exposition(request.headers.accept);
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { addedUp } from './add-up.ts';
import { createLabelGuard } from './label-guard.ts';
import type { Measurement } from './measurement.ts';
import { METRICS, type MetricDefinition, type MetricName } from './metric-table.ts';
import { plainText } from './plain-text.ts';

export interface Metrics {
  record(measurements: Iterable<Measurement>): void;
  /**
   * What is not counted but looked up: asked at every reading. What it told before and does not tell any more is forgotten;
   * of a counter it tells the count. Returns how to stop.
   */
  source(measure: () => Iterable<Measurement>): Disposable;
  /** Forgets the gauges with these labels: somebody else tells them from now on. */
  forget(labels: { readonly [label: string]: string }): void;
  /** @param accept of the request. */
  exposition(accept: string | undefined): Promise<Exposition>;
}

/** What those need that do the work. */
export type MetricsSink = Pick<Metrics, 'record' | 'forget' | 'source'>;

interface Exposition {
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
  const sources = new Map<() => Iterable<Measurement>, ReadonlyMap<string, Measurement>>();

  function record({ metric, labels, value, trace }: Measurement): void {
    const instrument = instrumentOf(metric);
    const bounded = boundedLabels(labels);
    switch (instrument.kind) {
      case 'counter':
        instrument.it.inc({ labels: bounded, value });
        return;
      case 'gauge':
        gauges.set(keyOf(metric, bounded), {
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

  function boundedLabels(labels: Measurement['labels']): Measurement['labels'] {
    return Object.fromEntries(
      Object.entries(labels).map(([label, text]) => [label, guard.bounded(label, text)]),
    );
  }

  function instrumentOf(metric: MetricName): Instrument {
    const instrument = instruments.get(metric);
    if (instrument === undefined) throw new RangeError(`there is no metric ${metric}`);
    return instrument;
  }

  function forgetAll(measurements: Iterable<Measurement>): void {
    for (const { metric, labels } of measurements) instrumentOf(metric).it.remove(labels);
  }

  /** @returns what it told. */
  function look(
    measure: () => Iterable<Measurement>,
    before: ReadonlyMap<string, Measurement>,
  ): ReadonlyMap<string, Measurement> {
    const told = new Map<string, Measurement>();
    for (const measurement of measure()) {
      const { metric } = measurement;
      const labels = boundedLabels(measurement.labels);
      const key = keyOf(metric, labels);
      // Several may be `other`.
      const value = measurement.value + (told.get(key)?.value ?? 0);
      put(instrumentOf(metric), labels, value);
      told.set(key, { metric, labels, value });
    }
    forgetAll([...before].filter(([key]) => !told.has(key)).map(([, measurement]) => measurement));
    return told;
  }

  return {
    record(measurements) {
      for (const measurement of addedUp(measurements)) record(measurement);
    },
    source(measure) {
      sources.set(measure, new Map());
      return {
        [Symbol.dispose]() {
          forgetAll(sources.get(measure)?.values() ?? []);
          sources.delete(measure);
        },
      };
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
      for (const [measure, before] of sources) sources.set(measure, look(measure, before));
      const text = await registry.metrics();
      return accept?.includes('application/openmetrics-text') === true
        ? { contentType: Registry.OPENMETRICS_CONTENT_TYPE, body: text }
        : { contentType: Registry.PROMETHEUS_CONTENT_TYPE, body: plainText(text) };
    },
  };
}

/** The value as it is, also of a counter: somebody else counts. */
function put(instrument: Instrument, labels: Measurement['labels'], value: number): void {
  switch (instrument.kind) {
    case 'counter':
      instrument.it.remove(labels);
      instrument.it.inc({ labels, value });
      return;
    case 'gauge':
      instrument.it.set(labels, value);
      return;
    case 'histogram':
      throw new TypeError('what is observed cannot be looked up');
  }
}

function keyOf(metric: MetricName, labels: Measurement['labels']): string {
  return `${metric}\0${Object.values(labels).join('\0')}`;
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
