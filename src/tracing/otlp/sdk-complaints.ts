/**
 * A collector's partial success. The OpenTelemetry exporter reports it only as a warning to the process's diagnostics logger. Answers
 * are handled in the async context of their export, which connects each warning with its request.
 *
 *     const diagnostics = exportDiagnostics();
 *     diagnostics.during(() => exporter.export(spans, result => ... diagnostics.refusal() ...));
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { type DiagLogger, DiagLogLevel, diag } from '@opentelemetry/api';
import { collectorText } from './collector-text.ts';
import type { PartialSuccess } from './export-outcome.ts';

/** Warnings of one request, apart from those of requests in flight beside it. */
export interface ExportDiagnostics {
  /** Captures warnings in the async context of `work`. */
  during(work: () => void): void;
  /** Available once the answer was handled. */
  refusal(): PartialSuccess | undefined;
}

/** Replaces the diagnostics logger of the process, which has no other use. */
export function captureSdkDiagnostics(): void {
  diag.setLogger(LISTENER, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}

/** Diagnostics of one export. */
export function exportDiagnostics(): ExportDiagnostics {
  const captured: Captured = { refusal: undefined };
  return { during: work => exports.run(captured, work), refusal: () => captured.refusal };
}

interface Captured {
  refusal: PartialSuccess | undefined;
}

const exports = new AsyncLocalStorage<Captured>();

const LISTENER: DiagLogger = {
  warn(text, ...details) {
    const captured = exports.getStore();
    // Other warnings are about environment variables, which our settings override.
    if (captured !== undefined) captured.refusal = refusalOf([text, ...details]) ?? captured.refusal;
  },
  error: ignore,
  info: ignore,
  debug: ignore,
  verbose: ignore,
};

/** Failures are results of their exports. */
function ignore(): void {}

/** Texts of the packages in the versions of package.json; tests of the exporter fail when they change. */
const PARTIAL_SUCCESS = 'Received Partial Success response:';
const UNREADABLE = 'could not deserialize response';

function refusalOf(parts: readonly unknown[]): PartialSuccess | undefined {
  const [first, second] = parts;
  if (first === PARTIAL_SUCCESS && typeof second === 'string') return partialSuccess(second);
  return parts.some(part => typeof part === 'string' && part.includes(UNREADABLE))
    ? CANNOT_BE_READ
    : undefined;
}

const CANNOT_BE_READ: PartialSuccess = { spans: 0, text: 'the answer cannot be read; is this a collector?' };

/** @param json `{ rejectedSpans?: number, errorMessage?: string }`; either is left out when it has its default. */
function partialSuccess(json: string): PartialSuccess | undefined {
  let answer: unknown;
  try {
    answer = JSON.parse(json);
  } catch (error) {
    // The exporter would swallow an error thrown here, and the warning with it.
    if (error instanceof SyntaxError) return CANNOT_BE_READ;
    throw error;
  }
  if (typeof answer !== 'object' || answer === null) return CANNOT_BE_READ;
  const spans =
    'rejectedSpans' in answer && typeof answer.rejectedSpans === 'number' ? answer.rejectedSpans : 0;
  const message =
    'errorMessage' in answer && typeof answer.errorMessage === 'string' ? answer.errorMessage : '';
  const text = collectorText(message);
  return spans === 0 && text === '' ? undefined : { spans, text };
}
