/** Who sends: the attributes that stand once per request, not on each span. */
import { type Resource, resourceFromAttributes } from '@opentelemetry/resources';

export interface ResourceFacts {
  /** Default name; settings have already let OTEL_SERVICE_NAME win. */
  readonly serviceName: string;
  readonly serviceVersion: string;
  /** Unique per process. */
  readonly instanceId: string;
  readonly hostName: string;
  /** `scheduler`, `executor`, ...; several in one process: `all`. */
  readonly component: string;
  /** From OTEL_RESOURCE_ATTRIBUTES: wins over everything here except the service name. */
  readonly extra: ReadonlyMap<string, string>;
}

export function resourceOf(facts: ResourceFacts): Resource {
  return resourceFromAttributes({
    'service.version': facts.serviceVersion,
    'service.instance.id': facts.instanceId,
    'host.name': facts.hostName,
    'gatehouse.component': facts.component,
    ...Object.fromEntries(facts.extra),
    'service.name': facts.serviceName,
  });
}
