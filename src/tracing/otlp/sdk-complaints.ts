/**
 * What a collector complained of in an answer, as the OpenTelemetry exporter tells it: as a warning to the diagnostics logger
 * of the process, and nowhere else. Answers are handled in the async context of the export they belong to, which is how each
 * complaint finds its request, however many are under way and however many exporters there are.
 *
 *     const heard = hearing();
 *     heard.during(() => exporter.export(spans, result => ... heard.refusal() ...));
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { type DiagLogger, DiagLogLevel, diag } from '@opentelemetry/api';
import { collectorText } from './collector-text.ts';
import type { PartialSuccess } from './export-outcome.ts';

export interface Hearing {
  /** Hears what is said on behalf of `work`, now or later. */
  during(work: () => void): void;
  /** Of the answer, once it was handled. */
  refusal(): PartialSuccess | undefined;
}

/** Takes the place of any other diagnostics logger: nobody else in the process has one. */
export function listenToSdk(): void {
  diag.setLogger(LISTENER, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}

/** Of one export. */
export function hearing(): Hearing {
  const heard: Heard = { refusal: undefined };
  return { during: work => exports.run(heard, work), refusal: () => heard.refusal };
}

interface Heard {
  refusal: PartialSuccess | undefined;
}

const exports = new AsyncLocalStorage<Heard>();

const LISTENER: DiagLogger = {
  warn(text, ...details) {
    const heard = exports.getStore();
    // Anything else is about settings the exporter reads from the environment, which ours overrule.
    if (heard !== undefined) heard.refusal = refusalOf([text, ...details]) ?? heard.refusal;
  },
  error: ignore,
  info: ignore,
  debug: ignore,
  verbose: ignore,
};

/** Failures come back as results of their exports. */
function ignore(): void {}

/** The packages' own words, of the versions in package.json: tests of the exporter notice when they change. */
const PARTIAL_SUCCESS = 'Received Partial Success response:';
const UNREADABLE = 'could not deserialize response';

function refusalOf(said: readonly unknown[]): PartialSuccess | undefined {
  const [first, second] = said;
  if (first === PARTIAL_SUCCESS && typeof second === 'string') return partialSuccess(second);
  return said.some(part => typeof part === 'string' && part.includes(UNREADABLE))
    ? CANNOT_BE_READ
    : undefined;
}

const CANNOT_BE_READ: PartialSuccess = { spans: 0, text: 'the answer cannot be read; is this a collector?' };

/** @param json `{ rejectedSpans?: number, errorMessage?: string }`; either is left out when it has its default. */
function partialSuccess(json: string): PartialSuccess | undefined {
  let said: unknown;
  try {
    said = JSON.parse(json);
  } catch (error) {
    // Thrown in here it would be lost in the exporter, and the complaint with it.
    if (error instanceof SyntaxError) return CANNOT_BE_READ;
    throw error;
  }
  if (typeof said !== 'object' || said === null) return CANNOT_BE_READ;
  const spans = 'rejectedSpans' in said && typeof said.rejectedSpans === 'number' ? said.rejectedSpans : 0;
  const message = 'errorMessage' in said && typeof said.errorMessage === 'string' ? said.errorMessage : '';
  const text = collectorText(message);
  return spans === 0 && text === '' ? undefined : { spans, text };
}
