/** Attributes of `tenant:` that bound what its projects, and the service for them, may do. */
import type { AnsibleChoice, Tenant } from '../../model/layout.ts';
import type { MappingReader } from '../reading/mapping-reader.ts';
import type { ParseContext } from '../reading/parse-context.ts';
import { readPatterns } from '../reading/read-patterns.ts';

type TenantRules = Omit<Tenant, 'name' | 'projects' | 'hosts' | 'access'>;

/** Seconds. */
const DEFAULT_MAX_JOB_TIMEOUT = 10_800;
const DEFAULT_MAX_NODES = 5;

/** With Zuul's defaults. @param ansible what the site has. */
export function readTenantRules(
  read: MappingReader,
  context: ParseContext,
  ansible: AnsibleChoice | undefined,
): TenantRules {
  const maxDependencies = limit(read, 'max-dependencies');
  const maxChangesPerPipeline = limit(read, 'max-changes-per-pipeline');
  const maxJobTimeout = limit(read, 'max-job-timeout', DEFAULT_MAX_JOB_TIMEOUT);
  const maxNodesPerJob = limit(read, 'max-nodes-per-job', DEFAULT_MAX_NODES);
  const defaultParent = read.string('default-parent');
  const shadowMode = read.boolean('shadow-mode') === true;
  const names = (key: string) => read.names(key)?.map(({ name }) => name);
  const allowedTriggers = names('allowed-triggers');
  const allowedReporters = names('allowed-reporters');
  const labels = (key: string) => readPatterns(read, key, context).map(({ name }) => name);
  const [allowedLabels, disallowedLabels] = [labels('allowed-labels'), labels('disallowed-labels')];
  return {
    ...ansibleOf(read, ansible),
    maxJobTimeout: maxJobTimeout ?? Number.MAX_SAFE_INTEGER,
    ...(maxDependencies === undefined ? {} : { maxDependencies }),
    ...(maxChangesPerPipeline === undefined ? {} : { maxChangesPerPipeline }),
    ...(maxNodesPerJob === undefined ? {} : { maxNodesPerJob }),
    ...(shadowMode ? { shadowMode } : {}),
    ...(defaultParent === undefined ? {} : { defaultParent }),
    ...(allowedTriggers === undefined ? {} : { allowedTriggers }),
    ...(allowedReporters === undefined ? {} : { allowedReporters }),
    ...(allowedLabels.length === 0 ? {} : { allowedLabels }),
    ...(disallowedLabels.length === 0 ? {} : { disallowedLabels }),
  };
}

function ansibleOf(read: MappingReader, site: AnsibleChoice | undefined): Pick<Tenant, 'ansible'> {
  const key = 'default-ansible-version';
  if (site === undefined) {
    read.withoutEffect({
      [key]: 'playbooks run with the Ansible of the executor ([scheduler] ansible_versions names others)',
    });
    return {};
  }
  const usual = read.string(key);
  if (usual === undefined) return { ansible: site };
  if (!site.versions.includes(usual)) {
    const text = `${key} is ${usual}, which this site does not have; it has ${site.versions.join(', ')} ([scheduler] ansible_versions)`;
    read.refuse(read.offsetOf(key), 'unknown-ansible', text);
  }
  return { ansible: { ...site, usual } };
}

/** Undefined: none, written as -1. */
function limit(read: MappingReader, key: string, usual?: number): number | undefined {
  const number = read.integer(key, { min: -1 }) ?? usual;
  return number === -1 ? undefined : number;
}
