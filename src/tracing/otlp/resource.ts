/** Who sends: the attributes that stand once per request, not on each span. */
import { type Resource, resourceFromAttributes } from '@opentelemetry/resources';

export interface ResourceFacts {
  /** Default name; settings have already let OTEL_SERVICE_NAME win. */
  readonly serviceName: string;
  readonly serviceVersion: string;
  /** The sender's; one for all processes that may send the same span. */
  readonly instanceId: string;
  /** Absent: spans come from several machines, and which one sends them says nothing. */
  readonly hostName?: string;
  /** `scheduler`, `executor`, ...; several in one process: `all`. */
  readonly component: string;
  /** From OTEL_RESOURCE_ATTRIBUTES: wins over everything here except the service name. */
  readonly extra: ReadonlyMap<string, string>;
}

export function resourceOf(facts: ResourceFacts): Resource {
  return resourceFromAttributes({
    'service.version': facts.serviceVersion,
    'service.instance.id': facts.instanceId,
    ...(facts.hostName === undefined ? {} : { 'host.name': facts.hostName }),
    'gatehouse.component': facts.component,
    ...Object.fromEntries(facts.extra),
    'service.name': facts.serviceName,
  });
}
