/**
 * Where everything is in the store: the only file that spells node paths.
 *
 *     const paths = storePaths('/gatehouse');
 *     paths.pipeline('acme', 'gate').item(uuid)      // /gatehouse/tenants/acme/pipelines/gate/items/<uuid>
 *
 * Names from configuration and code hosts are encoded, so that a project called `a/b` is one segment (`a%2Fb`); uuids and
 * hashes need no encoding. A queue's undecodable entries and those that failed too often are next to it, in `<queue>-dead`.
 */

import type { SemaphoreScope } from '../model/semaphore.ts';

/** All places of one installation. */
export type StorePaths = ReturnType<typeof storePaths>;

/** Kinds of components that register themselves below `components/`. */
export const COMPONENT_KINDS = ['scheduler', 'merger', 'executor', 'web'] as const;
/** The kind of a component in its id: `executor-3`. */
export type ComponentKind = (typeof COMPONENT_KINDS)[number];
/** The kind of work: mergers serve `merge`, executors `build`. `nodes` is reserved. */
export type RequestKind = 'merge' | 'build' | 'nodes';

/**
 * A name as one path segment.
 *
 * @throws RangeError when the name is empty or not well-formed Unicode.
 */
export function nodeName(name: string): string {
  if (name === '' || !name.isWellFormed())
    throw new RangeError(`cannot name a node: ${JSON.stringify(name)}`);
  return name === '.' || name === '..' ? name.replaceAll('.', '%2E') : encodeURIComponent(name);
}

/** The name from which `nodeName` made the segment. */
export function nameOfNode(segment: string): string {
  return decodeURIComponent(segment);
}

/** @param root absolute, without trailing slash. */
export function storePaths(root = '/gatehouse') {
  const tenants = `${root}/tenants`;
  const connections = `${root}/events/connection`;
  const outbox = `${root}/outbox`;
  return {
    root,
    allComponents: `${root}/components`,
    components: (kind: ComponentKind) => `${root}/components/${kind}`,
    /** Sequential and ephemeral: the store appends the number. */
    component: (kind: ComponentKind, host: string) => `${root}/components/${kind}/${nodeName(host)}-`,

    connection: (connection: string) => connectionPaths(`${connections}/${nodeName(connection)}`),
    connections,

    tenants,
    tenant: (tenant: string) => tenantPaths(root, nodeName(tenant)),
    pipeline: (tenant: string, pipeline: string) =>
      pipelinePaths(`${tenants}/${nodeName(tenant)}/pipelines/${nodeName(pipeline)}`),

    /** A request queue; see request-queue.ts for what is below. `zone` for workers of no zone: `default`. */
    requests: (kind: RequestKind, zone = 'default') => `${root}/requests/${kind}/${nodeName(zone)}`,
    requestZones: (kind: RequestKind) => `${root}/requests/${kind}`,

    ...hostPaths(root),
    ...testPaths(root),

    /** Leader election of the sweepers; see lock.ts. */
    sweeper: {
      lock: `${root}/sweeper/lock`,
      epoch: `${root}/sweeper/epoch`,
      lastOperation: `${root}/sweeper/lastOp`,
    },

    /** Requests of executors for access to repositories of the connection; see src/executor/borrow-access.ts. */
    accessRequests: (connection: string) => `${root}/access/${nodeName(connection)}`,
    accessRequest: (connection: string, uuid: string) => `${root}/access/${nodeName(connection)}/${uuid}`,

    /** Last signs of life of working processes; see signs-of-life.ts. */
    signs: `${root}/alive`,
    sign: (session: string) => `${root}/alive/${nodeName(session)}`,

    blobs: `${root}/blobs`,
    /** @param sha256 64 hex digits of the content. */
    blob: (sha256: string) => `${root}/blobs/${sha256}`,

    changeCache: (connection: string) => `${root}/cache/changes/${nodeName(connection)}`,
    cachedChange: (connection: string, key: string) =>
      `${root}/cache/changes/${nodeName(connection)}/${nodeName(key)}`,
    cachedBranches: (connection: string, project: string) =>
      `${root}/cache/branches/${nodeName(connection)}/${nodeName(project)}`,
    tenantConfigs: (tenant: string) => `${root}/cache/config/${nodeName(tenant)}`,
    /** Configuration files as last read, per tenant: each tenant's fence covers its own. */
    cachedConfigs: (tenant: string, project: string) =>
      `${root}/cache/config/${nodeName(tenant)}/${nodeName(project)}`,
    /** Named for its content and never changed: `digest` is the hash of the files. */
    cachedConfig: (tenant: string, project: string, branch: string, digest: string) =>
      `${root}/cache/config/${nodeName(tenant)}/${nodeName(project)}/${nodeName(branch)}@${digest}`,

    /** Semaphores of tenants, a directory for each tenant; see semaphore-slots.ts. */
    tenantSemaphores: `${root}/semaphores/tenants`,
    globalSemaphores: `${root}/semaphores/global`,
    semaphoresOf: (tenant: string) => `${root}/semaphores/tenants/${nodeName(tenant)}`,
    /** Its slots are below it, by number. @param tenant one that uses it. */
    semaphore: (tenant: string, scope: SemaphoreScope, name: string) =>
      scope === 'global'
        ? `${root}/semaphores/global/${nodeName(name)}`
        : `${root}/semaphores/tenants/${nodeName(tenant)}/${nodeName(name)}`,

    /** Id of the installation, for as long as its tree exists; created by the first process that needs it. */
    installation: `${root}/installation`,
    /** Id of the database that history is written to. */
    historyDatabase: `${root}/history-database`,
    /** Leader election for a role that one process at a time holds; see lock.ts. */
    election: (role: string) => `${root}/elections/${nodeName(role)}`,

    spanOutbox: `${outbox}/spans`,
    /** State of the span delivery, for the webs. */
    senderReport: `${root}/span-sender`,
    historyOutbox: `${outbox}/history`,
    /** Merges requested from code hosts; see src/scheduler/changes/own-merges.ts. */
    landings: `${root}/landings`,
    reportOutbox: (tenant: string, pipeline: string) =>
      `${outbox}/reports/${nodeName(tenant)}/${nodeName(pipeline)}`,
    /** Reports to mail servers and message brokers. */
    messageOutbox: (tenant: string, pipeline: string) =>
      `${outbox}/messages/${nodeName(tenant)}/${nodeName(pipeline)}`,

    /** Unreadable records; see quarantine.ts. */
    quarantine: `${root}/quarantine`,

    /** How the keys of projects are sealed; see keystore/keyring.ts. */
    keystore: `${root}/keystore`,
    keys: `${root}/keys`,
    /** Of one project; see keystore/keystore.ts. */
    key: (connection: string, project: string) => `${root}/keys/${nodeName(connection)}/${nodeName(project)}`,
  };
}

/** Hosts of `nodes.yaml`; see src/nodes/. */
function hostPaths(root: string) {
  return {
    staticHosts: `${root}/nodes/hosts`,
    staticHost: (host: string) => `${root}/nodes/hosts/${nodeName(host)}`,
    /** Providers that make nodes. */
    nodePools: `${root}/nodes/pools`,
    nodePool: (pool: string) => `${root}/nodes/pools/${nodeName(pool)}`,
    /** How they fare. */
    hostStates: `${root}/nodes/states`,
    hostState: (host: string) => `${root}/nodes/states/${nodeName(host)}`,
    /** Requests to hold the hosts of failed builds. */
    holds: `${root}/nodes/holds`,
    /** @param node as children of `holds` are called. */
    hold: (node: string) => `${root}/nodes/holds/${node}`,
  };
}

function testPaths(root: string) {
  return {
    /** Tests that failed lately, a node for each project of a tenant; see watched-tests.ts. */
    watchedTests: `${root}/watched-tests`,
    watchedTestsOf: (tenant: string, project: string) =>
      `${root}/watched-tests/${nodeName(tenant)}@${nodeName(project)}`,
  };
}

function connectionPaths(base: string) {
  return {
    base,
    /** Raw events as received. */
    queue: `${base}/queue`,
    /** Questions of people that are not answered yet. */
    questions: `${base}/questions`,
    /** Ids of accepted deliveries. */
    seen: `${base}/seen`,
    /** Leader election of the process that listens and processes; see lock.ts. */
    election: `${base}/election`,
    epoch: `${base}/epoch`,
    lastOperation: `${base}/lastOp`,
    /** The driver's own memory (its view of the host's refs). */
    memory: `${base}/memory`,
    memoryOf: (key: string) => `${base}/memory/${nodeName(key)}`,
    /** State of the host, for the webs. */
    report: `${base}/report`,
  };
}

function tenantPaths(root: string, tenant: string) {
  const base = `${root}/tenants/${tenant}`;
  const events = `${root}/events/tenant/${tenant}`;
  return {
    base,
    lock: `${base}/lock`,
    epoch: `${base}/epoch`,
    lastOperation: `${base}/lastOp`,
    /** The current layout version. */
    layout: `${base}/layout`,
    pipelines: `${base}/pipelines`,
    events,
    triggerQueue: `${events}/trigger`,
    managementQueue: `${events}/management`,
    /** Ticks of timers that are not events yet. */
    ticks: `${events}/ticks`,
    /** What Gatehouse did, for pipelines that start because of it. */
    internal: `${events}/internal`,
    /** Up to when the timers have ticked. */
    timers: `${base}/timers`,
    /** Mergers' answers to requests of the tenant itself, by request. */
    answers: `${base}/answers`,
    answer: (request: string) => `${base}/answers/${request}`,
  };
}

function pipelinePaths(base: string) {
  return {
    base,
    lock: `${base}/lock`,
    epoch: `${base}/epoch`,
    lastOperation: `${base}/lastOp`,
    /** Order of items, windows, counters. */
    state: `${base}/state`,
    items: `${base}/items`,
    item: (uuid: string) => `${base}/items/${uuid}`,
    /** Trigger, management and result events of this pipeline. */
    eventQueue: `${base}/events`,
    /** What was sent of its items; there only where a rule of `[notify NAME]` watches the pipeline. */
    notices: `${base}/notices`,
    /** A commit too large for one multi, while it is carried out; see staged-commit.ts. */
    staged: `${base}/staged`,
  };
}
