/**
 * What of a checkout of zuul-jobs can be run on one Debian machine: the jobs of its `zuul-tests.d` that say what runs, and roles alone, with
 * the values of `role-values.ts`. Pure.
 */
import { load } from 'js-yaml';
import { LACKING, ROLE_VALUES } from './role-values.ts';

/** Where builds run: on the executor, or on a host over ssh. */
export type PlaceName = 'local' | 'ssh';

/** One job that is run. */
export interface Case {
  /** Of the job that is tested, or of the role. */
  readonly name: string;
  readonly kind: 'job' | 'role';
}

/** What is not run, and why. */
interface Refusal {
  readonly name: string;
  readonly reason: string;
}

export interface Cases {
  readonly cases: readonly Case[];
  readonly refusals: readonly Refusal[];
}

/** Of zuul-jobs, as text: files of `zuul-tests.d`, files of `zuul.d`, and names of roles. */
export interface Library {
  readonly tests: readonly string[];
  readonly jobs: readonly string[];
  readonly roles: readonly string[];
}

/** Projects that stand-ins of ours can take the place of: their content does not matter. */
export const STAND_INS = ['opendev/base-jobs', 'zuul/project-config'];
/** Jobs that sites have. */
const SITE_JOBS = ['base', 'base-minimal'];

/** @throws YAMLException */
export function casesOf({ tests, jobs, roles }: Library): Cases {
  const tested = tests.flatMap(jobStanzas).map(({ job }) => job);
  const known = [...tested, ...jobs.flatMap(jobStanzas).map(({ job }) => job)];
  const names = new Set([...SITE_JOBS, ...known.map(({ name }) => String(name))]);
  // Others only name the nodes that a job with playbooks runs on.
  const runs = tested.filter(({ run }) => run !== undefined);
  const own = new Set(runs.map(roleOf));
  const alone = roles.filter(role => ROLE_VALUES[role] !== undefined || !own.has(role));
  const all = [
    ...runs.map(job => ({ name: String(job.name), kind: 'job' as const, reason: obstacleOf(job, names) })),
    ...alone.map(name => ({ name, kind: 'role' as const, reason: LACKING[name] })),
  ];
  return {
    cases: all.flatMap(({ name, kind, reason }) => (reason === undefined ? [{ name, kind }] : [])),
    refusals: all.flatMap(({ name, reason }) => (reason === undefined ? [] : [{ name, reason }])),
  };
}

/** The job that runs a case at a place. */
export function jobNameOf({ name, kind }: Case, place: PlaceName): string {
  return `compat-${place}-${kind}-${name}`;
}

/**
 * Jobs that run the cases.
 *
 * @param labelOf label of the host that a case has to itself; undefined: its tasks run on the executor.
 * @param forRole attributes of a job that includes a role.
 */
export function jobsOf(
  cases: readonly Case[],
  place: PlaceName,
  labelOf: (each: Case) => string | undefined,
  forRole: (role: string) => object,
): readonly { readonly job: Attributes }[] {
  return cases.map(each => {
    const label = labelOf(each);
    return {
      job: {
        name: jobNameOf(each, place),
        ...(each.kind === 'job' ? { parent: each.name } : forRole(each.name)),
        nodeset: { nodes: label === undefined ? [] : [{ name: NODE, label }] },
        // The change touches nothing that the tests are about.
        files: ['.*'],
        attempts: 1,
      },
    };
  });
}

const NODE = 'debian-bookworm';

type Attributes = { readonly [name: string]: unknown };

/** Those of a file that define jobs: projects would have them run in pipelines, with jobs of other repositories. */
function jobStanzas(text: string): readonly { readonly job: Attributes }[] {
  const stanzas = load(text);
  return Array.isArray(stanzas) ? stanzas.filter(stanza => Object(stanza).job !== undefined) : [];
}

/** The role that a test is for, by its variables or its name. */
function roleOf({ name, vars }: Attributes): string {
  return String(Object(vars).role_name ?? String(name).replace('zuul-jobs-test-', ''));
}

function obstacleOf(job: Attributes, names: ReadonlySet<string>): string | undefined {
  const { nodeset, parent, dependencies = [], 'required-projects': required = [] } = job;
  const others = [required].flat().filter(each => !STAND_INS.includes(String(each)));
  if (others.length > 0) return `needs the projects ${JSON.stringify(others)}`;
  if (typeof parent === 'string' && !names.has(parent))
    return `its parent ${parent} is a job of another project`;
  if ([dependencies].flat().length > 0) return `depends on other jobs: ${JSON.stringify(dependencies)}`;
  if (typeof nodeset === 'string') return `needs the nodeset ${nodeset}`;
  const { nodes } = Object(nodeset);
  if (!Array.isArray(nodes) || nodes.length < 2) return undefined;
  return `needs ${nodes.length} nodes`;
}
