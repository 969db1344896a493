/**
 * The metrics of this process and their exposition: OpenMetrics (with exemplars) for clients that ask for it, Prometheus' text
 * format for all others.
 *
 *     const metrics = createMetrics();
 *     metrics.record(turnMeasurements(before, draft));
 *     const { contentType, body } = await metrics.exposition(request.headers.accept);
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, type Metric, Registry } from 'prom-client';
import { addedUp } from './add-up.ts';
import { createLabelGuard } from './label-guard.ts';
import type { Measurement } from './measurement.ts';
import { METRICS, type MetricDefinition, type MetricName } from './metric-table.ts';
import { plainText } from './plain-text.ts';

/** All metrics of one process. Its components get the {@link MetricsSink}. */
export interface Metrics {
  /** Counts of the same thing are added up first; labels beyond the limit become `other`. */
  record(measurements: Iterable<Measurement>): void;
  /**
   * Adds a source that is read at every exposition, for values that are looked up rather than counted. Values it no longer
   * returns are removed; for a counter it returns the count. Dispose of the result to remove the source.
   */
  source(measure: () => Iterable<Measurement>): Disposable;
  /** Removes the gauges with these labels: another process reports them from now on. */
  forget(labels: { readonly [label: string]: string }): void;
  /** @param accept the request's header. */
  exposition(accept: string | undefined): Promise<Exposition>;
}

/** The part of the metrics that components use. */
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

let ofProcess: Registry | undefined;

/** Made once in a process: each set has an observer of the garbage collector and a timer of its own, which nothing ends. */
function metricsOfProcess(): readonly Metric<string>[] {
  if (ofProcess === undefined) {
    ofProcess = new Registry();
    collectDefaultMetrics({ register: ofProcess });
  }
  const registry = ofProcess;
  return registry.getMetricsAsArray().flatMap(({ name }) => registry.getSingleMetric(name) ?? []);
}

/** Includes the metrics of the Node process itself. */
export function createMetrics(): Metrics {
  return new MetricsRegistry();
}

class MetricsRegistry implements Metrics {
  readonly #registry: OpenMetricsRegistry = new Registry<typeof Registry.OPENMETRICS_CONTENT_TYPE>();
  readonly #instruments = new Map<MetricName, Instrument>();
  readonly #gauges = new Map<string, { readonly gauge: Gauge; readonly labels: Measurement['labels'] }>();
  /** With the measurements each source returned last, by key. */
  readonly #sources = new Map<() => Iterable<Measurement>, ReadonlyMap<string, Measurement>>();
  readonly #guard = createLabelGuard(label =>
    this.#recordOne({ metric: 'gatehouse_metric_labels_overflowed', labels: { label }, value: 1 }),
  );

  constructor() {
    this.#registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
    for (const metric of metricsOfProcess()) this.#registry.registerMetric(metric);
    for (const name of metricNames())
      this.#instruments.set(name, instrument(name, METRICS[name], this.#registry));
  }

  record(measurements: Iterable<Measurement>): void {
    for (const measurement of addedUp(measurements)) this.#recordOne(measurement);
  }

  source(measure: () => Iterable<Measurement>): Disposable {
    this.#sources.set(measure, new Map());
    return {
      [Symbol.dispose]: () => {
        this.#remove(this.#sources.get(measure)?.values() ?? []);
        this.#sources.delete(measure);
      },
    };
  }

  forget(labels: { readonly [label: string]: string }): void {
    const wanted = Object.entries(labels);
    for (const [key, { gauge, labels: own }] of this.#gauges) {
      if (!wanted.every(([label, text]) => own[label] === text)) continue;
      gauge.remove(own);
      this.#gauges.delete(key);
    }
  }

  async exposition(accept: string | undefined): Promise<Exposition> {
    for (const [measure, before] of this.#sources)
      this.#sources.set(measure, this.#readSource(measure, before));
    const text = await this.#registry.metrics();
    return accept?.includes('application/openmetrics-text') === true
      ? { contentType: Registry.OPENMETRICS_CONTENT_TYPE, body: text }
      : { contentType: Registry.PROMETHEUS_CONTENT_TYPE, body: plainText(text) };
  }

  #recordOne({ metric, labels, value, trace }: Measurement): void {
    const instrument = this.#instrumentOf(metric);
    const bounded = this.#boundedLabels(labels);
    switch (instrument.kind) {
      case 'counter':
        instrument.it.inc({ labels: bounded, value });
        return;
      case 'gauge':
        this.#gauges.set(keyOf(metric, bounded), { gauge: instrument.it, labels: bounded });
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

  /** @returns the values the source has now, by key. */
  #readSource(
    measure: () => Iterable<Measurement>,
    before: ReadonlyMap<string, Measurement>,
  ): ReadonlyMap<string, Measurement> {
    const now = new Map<string, Measurement>();
    for (const measurement of measure()) {
      const { metric } = measurement;
      const labels = this.#boundedLabels(measurement.labels);
      const key = keyOf(metric, labels);
      // Several may be `other`.
      const value = measurement.value + (now.get(key)?.value ?? 0);
      put(this.#instrumentOf(metric), labels, value);
      now.set(key, { metric, labels, value });
    }
    this.#remove([...before].filter(([key]) => !now.has(key)).map(([, measurement]) => measurement));
    return now;
  }

  #remove(measurements: Iterable<Measurement>): void {
    for (const { metric, labels } of measurements) this.#instrumentOf(metric).it.remove(labels);
  }

  #boundedLabels(labels: Measurement['labels']): Measurement['labels'] {
    return Object.fromEntries(
      Object.entries(labels).map(([label, text]) => [label, this.#guard.bounded(label, text)]),
    );
  }

  #instrumentOf(metric: MetricName): Instrument {
    const instrument = this.#instruments.get(metric);
    if (instrument === undefined) throw new RangeError(`there is no metric ${metric}`);
    return instrument;
  }
}

/** Sets the value, also of a counter: the source has counted. */
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
      throw new TypeError('a histogram cannot have a source');
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
