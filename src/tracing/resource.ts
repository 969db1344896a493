/**
 * The resource of a span: attributes of the process that made it.
 *
 *     scheduler   service.instance.id = <installation>/scheduler
 *     executor    service.instance.id = <installation>/executor/ci2     host.name = ci2
 *
 * A pure function of the span and of settings that all processes share. With one machine (the embedded store) `host.name` is that
 * machine for all spans; otherwise it is the one in the span's record, and a scheduler's spans have none: an item outlives the
 * process that decides about it.
 */
import type { Attributes, SpanRecord } from '../model/span.ts';
import { COMPONENTS, makerOf, type SpanMaker } from './span-maker.ts';

/** What all processes of an installation agree on, so that a span sent again by another process has the same resource. */
export interface Installation {
  /** `service.name` of all spans, or its prefix with `servicePerComponent`. */
  readonly serviceName: string;
  readonly serviceVersion: string;
  /** Id of the installation; undefined: not known yet, `service.instance.id` is absent. */
  readonly instanceId: string | undefined;
  /** The only machine; undefined: there may be several. */
  readonly hostName: string | undefined;
  /** `gatehouse-executor` instead of `gatehouse`; `service.namespace` groups them. */
  readonly servicePerComponent: boolean;
  /** From OTEL_RESOURCE_ATTRIBUTES: overrides the attributes all spans share, except the service name. */
  readonly extra: ReadonlyMap<string, string>;
}

/**
 * Attributes by their names on the wire. `extra` overrides all but `service.name`, `gatehouse.component` and, where there may be
 * several machines, a worker's `host.name`.
 */
export function resourceOf(installation: Installation, { component, worker }: SpanMaker): Attributes {
  const { serviceName, servicePerComponent, hostName, extra } = installation;
  const instance = extra.get('service.instance.id') ?? installation.instanceId;
  const machine = hostName === undefined ? worker : (extra.get('host.name') ?? hostName);
  return {
    'service.version': installation.serviceVersion,
    ...(servicePerComponent ? { 'service.namespace': serviceName } : {}),
    ...Object.fromEntries(extra),
    ...(instance === undefined
      ? {}
      : {
          'service.instance.id': [instance, component, ...(worker === undefined ? [] : [worker])].join('/'),
        }),
    ...(machine === undefined ? {} : { 'host.name': machine }),
    'gatehouse.component': component,
    'service.name': servicePerComponent ? serviceOf(serviceName, component) : serviceName,
  };
}

/** Every `service.name` that spans of this installation may have. */
export function serviceNames(serviceName: string): ReadonlySet<string> {
  return new Set([serviceName, ...COMPONENTS.map(component => serviceOf(serviceName, component))]);
}

/** The service of the root spans of items and events: the one to search by. */
export function rootService({
  serviceName,
  servicePerComponent,
}: Pick<Installation, 'serviceName' | 'servicePerComponent'>): string {
  return servicePerComponent ? serviceOf(serviceName, 'scheduler') : serviceName;
}

function serviceOf(serviceName: string, component: string): string {
  return `${serviceName}-${component}`;
}

/** The resource of each span; spans of one process share one object. Make a new one per request. */
export function resources(installation: Installation): (span: SpanRecord) => Attributes {
  const known = new Map<string, Attributes>();
  return span => {
    const maker = makerOf(span);
    const key = `${maker.component}/${maker.worker ?? ''}`;
    const found = known.get(key) ?? resourceOf(installation, maker);
    known.set(key, found);
    return found;
  };
}
