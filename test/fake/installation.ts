import type { Installation } from '../../src/tracing/resource.ts';

/** One with an ensemble: spans of workers name their machines. */
export const INSTALLATION: Installation = {
  serviceName: 'gatehouse',
  serviceVersion: '0.1.0',
  instanceId: 'i-1',
  hostName: undefined,
  servicePerComponent: false,
  extra: new Map(),
};
