/**
 * Reads gatehouse.conf again while the process runs (SIGHUP). `[tracing]` takes effect immediately; other changed sections are
 * logged and wait for a restart; a file with errors changes nothing.
 */
import type { Log } from '../lib/log.ts';
import type { Environment } from '../settings/interpolate.ts';
import { readSettings } from '../settings/read-settings.ts';
import type { Settings } from '../settings/settings.ts';
import type { TracingSettings } from '../settings/tracing-settings.ts';
import { tlsFiles } from './service/span-delivery.ts';

/** Made by `start.ts` at SIGHUP. */
export interface ReloadDeps {
  /** As given on the command line. */
  readonly config: string;
  readonly environment: Environment;
  /** As of the start: what other sections are compared with. */
  readonly settings: Settings;
  /** Makes the running service use them; called with equal settings as well, since the files they name may have changed. */
  readonly adopt: (tracing: TracingSettings) => void;
  readonly log: Log;
}

/**
 * Logs each outcome and throws nothing for what the file holds. An unreadable TLS file of `[tracing]` leaves the section as it is.
 */
export function reload({ config, environment, settings, adopt, log }: ReloadDeps): void {
  const read = readSettings(config, environment);
  if (read.kind === 'invalid') {
    for (const error of read.errors) log.error({}, error);
    log.error({ config }, 'the settings are invalid; the previous ones stay in force');
    return;
  }
  for (const warning of read.warnings) log.warn({}, warning);
  const { tracing } = read.settings;
  const unreadable = tracing.kind === 'on' ? unreadableFile(tracing) : undefined;
  if (unreadable !== undefined) {
    log.error({ config }, `[tracing] is unchanged: ${unreadable}`);
    return;
  }
  adopt(tracing);
  log.info(
    tracing.kind === 'on'
      ? { protocol: tracing.protocol, sample_ratio: tracing.sampleRatio }
      : { why: tracing.why },
    tracing.kind === 'on' ? '[tracing] reloaded' : '[tracing] reloaded: tracing is off',
  );
  const waiting = changedSections(settings, read.settings);
  if (waiting.length > 0)
    log.warn({ sections: waiting }, 'other sections changed; they take effect after a restart');
}

function unreadableFile(tracing: Parameters<typeof tlsFiles>[0]): string | undefined {
  try {
    tlsFiles(tracing);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function changedSections(before: Settings, after: Settings): readonly string[] {
  return Object.keys(after).filter(
    section => section !== 'tracing' && meaningOf(before, section) !== meaningOf(after, section),
  );
}

/** Compared without line numbers. Secrets serialize to nothing, so a changed secret is not noticed. */
function meaningOf(settings: Settings, section: string): string {
  const value: unknown = Object.entries(settings).find(([name]) => name === section)?.[1];
  return JSON.stringify(value, (key, part: unknown) =>
    key === 'at' ? undefined : part instanceof Map ? [...part] : part,
  );
}
