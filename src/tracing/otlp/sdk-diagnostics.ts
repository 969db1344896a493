/**
 * What the OpenTelemetry packages would otherwise say to nobody: their warnings, and the partial successes of collectors.
 *
 * The SDK has one diagnostics logger per process and no other way to learn of a partial success. It reports one in the same
 * breath as the success of the export, which is what lets {@link SdkDiagnostics.takeRefusal} tie the two together.
 */
import { DiagLogLevel, diag } from '@opentelemetry/api';
import type { Log } from '../../lib/log.ts';

export interface SdkDiagnostics {
  /** What the collector refused in the answer being handled right now, or undefined; asking forgets it. */
  takeRefusal(): string | undefined;
  /** Stops listening. */
  close(): void;
}

/** Call once per process; a second call takes over from the first. */
export function listenToSdk(log: Pick<Log, 'debug'>): SdkDiagnostics {
  let refusal: string | undefined;
  const tell = (text: string, details: readonly unknown[]) =>
    log.debug({ details: details.map(String) }, `OpenTelemetry: ${text}`);
  const logger = {
    error: (text: string, ...details: unknown[]) => tell(text, details),
    warn: (text: string, ...details: unknown[]) => {
      if (text.startsWith('Received Partial Success')) refusal = details.map(String).join(' ');
      else tell(text, details);
    },
    info: ignore,
    debug: ignore,
    verbose: ignore,
  };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  return {
    takeRefusal() {
      const taken = refusal;
      refusal = undefined;
      return taken;
    },
    close: () => diag.disable(),
  };
}

function ignore(): void {}
