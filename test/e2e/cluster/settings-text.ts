/** What an operator writes for one process of many: the same everywhere but for what is its own (port, directories). */
import path from 'node:path';
import { CONFIG_PROJECT, CONNECTION, PROJECTS, TENANT } from './layout.ts';

export interface ClusterPlaces {
  readonly root: string;
  /** ZooKeeper; undefined: the embedded store. */
  readonly store:
    | {
        /** `host:port`, one or more. */
        readonly hosts: string;
        /** Path in the store below which all is. */
        readonly root: string;
        /** Seconds. */
        readonly sessionTimeout: number;
      }
    | undefined;
  /** Where the repositories are: a directory or a URL. */
  readonly baseurl: string;
  /** Seconds between polls; 0: never. */
  readonly pollInterval: number;
  /** Collector. */
  readonly collector: string;
  readonly token: string;
  /** Each process has mirrors of its own, as on machines of their own; else all share one directory. */
  readonly separateMirrors: boolean;
  /** More of `[executor]`, by the name of the process. */
  readonly executors: Readonly<Record<string, string>>;
  /** More of the file. */
  readonly sections: string;
}

/** Seconds, unless a cluster says otherwise: how long the store waits before it takes a silent process for dead. */
export const SESSION_TIMEOUT = 4;

export function stateOf(root: string): string {
  return path.join(root, 'state');
}

/** @param port of the web; 0 for what serves none. */
export function settingsText(places: ClusterPlaces, name: string, port: number): string {
  const { root, separateMirrors } = places;
  return `[scheduler]
tenant_config = tenants.yaml
state_dir = ${stateOf(root)}

${zooKeeperText(places)}
[web]
port = ${port}
command_socket = ${path.join(root, `${name}.sock`)}
root = http://gatehouse.example.org

[merger]
git_dir = ${path.join(root, 'mirrors', separateMirrors ? name : 'all')}

[executor]
job_dir = ${path.join(root, 'jobs', name)}
allow_unsandboxed = true
max_builds = 8
${places.executors[name] ?? ''}

[tracing]
enabled = true
endpoint = ${places.collector}
timeout = 2000

[log]
level = debug

[connection ${CONNECTION}]
driver = git
baseurl = ${places.baseurl}
proposals = for/{branch}/{topic}
webhook_token = ${places.token}
poll_interval = ${places.pollInterval}
${places.sections}`;
}

function zooKeeperText({ store }: ClusterPlaces): string {
  if (store === undefined) return '';
  return `[zookeeper]
hosts = ${store.hosts}
root = ${store.root}
session_timeout = ${store.sessionTimeout}
`;
}

export function tenantsText(): string {
  return `- tenant:
    name: ${TENANT}
    source:
      ${CONNECTION}:
        config-projects: [${CONFIG_PROJECT}]
        untrusted-projects: [${PROJECTS.join(', ')}]
`;
}
