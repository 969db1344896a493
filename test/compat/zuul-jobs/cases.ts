/**
 * What of a checkout of zuul-jobs can be run on one Debian machine: the jobs of its `zuul-tests.d` that say what runs, and each of its roles
 * alone. Pure.
 */
import { load } from 'js-yaml';

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

/** @param texts of the files of `zuul-tests.d`. @throws YAMLException */
export function jobCases(texts: readonly string[]): Cases {
  const cases: Case[] = [];
  const refusals: Refusal[] = [];
  for (const { job } of texts.flatMap(jobStanzas)) {
    const name = String(job.name);
    // Others only name the nodes that a job with playbooks runs on.
    if (job.run === undefined) continue;
    const reason = obstacleOf(job);
    if (reason === undefined) cases.push({ name, kind: 'job' });
    else refusals.push({ name, reason });
  }
  return { cases, refusals };
}

/** The job that runs a case at a place. */
export function jobNameOf({ name, kind }: Case, place: string): string {
  return `compat-${place}-${kind}-${name}`;
}

/** Jobs that run the cases. @param nodes of the place; none: the executor itself. @param forRole attributes of a job that includes the role `role_name`. */
export function jobsOf(
  cases: readonly Case[],
  place: string,
  nodes: readonly string[],
  forRole: object,
): readonly object[] {
  const nodeset = { nodes: nodes.map(name => ({ name, label: name })) };
  return cases.map(each => ({
    job: {
      name: jobNameOf(each, place),
      ...(each.kind === 'job' ? { parent: each.name } : { ...forRole, vars: { role_name: each.name } }),
      nodeset,
    },
  }));
}

type Attributes = { readonly [name: string]: unknown };

/** Those of a file that define jobs: projects would have them run in pipelines, with jobs of other repositories. */
export function jobStanzas(text: string): readonly { readonly job: Attributes }[] {
  const stanzas = load(text);
  return Array.isArray(stanzas) ? stanzas.filter(stanza => Object(stanza).job !== undefined) : [];
}

function obstacleOf({ nodeset, 'required-projects': projects }: Attributes): string | undefined {
  if (projects !== undefined) return `needs the projects ${JSON.stringify(projects)}`;
  if (typeof nodeset === 'string') return `needs the nodeset ${nodeset}`;
  const { nodes } = Object(nodeset);
  if (!Array.isArray(nodes) || nodes.length < 2) return undefined;
  return `needs ${nodes.length} nodes`;
}
