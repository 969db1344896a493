/** What spans of this installation say of who made them, as the settings have it. */
import type { Settings } from '../../settings/settings.ts';
import type { TracingSettings } from '../../settings/tracing-settings.ts';
import type { Installation } from '../../tracing/resource.ts';

export interface InstallationFacts {
  readonly version: string;
  /** Undefined: not known yet. */
  readonly instance: string | undefined;
  /** The one machine there is; undefined: there may be several. */
  readonly host: string | undefined;
}

/** Where tracing is off, pages show spans all the same. */
const UNNAMED = { serviceName: 'gatehouse', servicePerComponent: false, resourceAttributes: new Map() };

export function installationOf(
  tracing: TracingSettings,
  { version, instance, host }: InstallationFacts,
): Installation {
  const { serviceName, servicePerComponent, resourceAttributes } = tracing.kind === 'on' ? tracing : UNNAMED;
  return {
    serviceName,
    serviceVersion: version,
    instanceId: instance,
    hostName: host,
    servicePerComponent,
    extra: resourceAttributes,
  };
}

/** An embedded store means one machine, which is `here`. */
export function onlyHost({ store }: Pick<Settings, 'store'>, here: string): string | undefined {
  return store.kind === 'embedded' ? here : undefined;
}
