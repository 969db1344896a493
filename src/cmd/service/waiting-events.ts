/** Lengths of the event queues before the pipelines: one per connection, one per tenant. */
import type { ConnectionName, TenantName } from '../../model/project.ts';
import { openLiveCounts } from '../../store/live-counts.ts';
import type { LiveTenants } from '../../store/live-tenants.ts';
import type { StorePaths } from '../../store/paths.ts';
import type { Store } from '../../store/port.ts';

/** Numbers as last read; 0 for a queue that is not there. */
export interface WaitingEvents extends Disposable {
  ofConnection(connection: ConnectionName): number;
  /** Of all connections together. */
  ofConnections(): number;
  /** 0 for a tenant that is no longer configured. */
  ofTenant(tenant: TenantName): number;
  /** Called with each tenant whose numbers changed: all of them for a connection's queue. */
  onChange(listener: (tenant: TenantName) => void): Disposable;
}

/** `tenants` may grow: the queue of a new tenant is followed, too. */
export interface WaitingEventsDeps {
  readonly store: Store;
  readonly paths: StorePaths;
  readonly connections: Iterable<ConnectionName>;
  readonly tenants: Pick<LiveTenants, 'tenants' | 'onChange'>;
  /** Called when a read fails; the number stays until the next change. */
  readonly onError: (error: unknown) => void;
}

/** Resolves when all queues were read once. Disposing of it leaves the store open. */
export async function openWaitingEvents({
  store,
  paths,
  connections,
  tenants,
  onError,
}: WaitingEventsDeps): Promise<WaitingEvents> {
  const ofConnection = (name: ConnectionName) => paths.connection(name).queue;
  const ofTenant = (name: TenantName) => paths.tenant(name).triggerQueue;
  const tenantOf = new Map<string, TenantName>();
  const stack = new DisposableStack();
  const names = [...connections];
  const counts = stack.use(await openLiveCounts(store, names.map(ofConnection), onError));

  async function followTenant(name: TenantName): Promise<void> {
    if (tenantOf.has(ofTenant(name))) return;
    tenantOf.set(ofTenant(name), name);
    await counts.follow(ofTenant(name));
  }

  await Promise.all(tenants.tenants().map(followTenant));
  stack.use(tenants.onChange(name => void followTenant(name)));
  return {
    ofConnection: name => counts.count(ofConnection(name)),
    ofConnections: () => names.reduce((sum, name) => sum + counts.count(ofConnection(name)), 0),
    ofTenant: name => counts.count(ofTenant(name)),
    onChange: listener =>
      counts.onChange(path => {
        const one = tenantOf.get(path);
        for (const tenant of one === undefined ? tenants.tenants() : [one]) listener(tenant);
      }),
    [Symbol.dispose]: () => stack.dispose(),
  };
}
