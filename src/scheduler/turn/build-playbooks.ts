/**
 * The playbooks of a build and their roles, with the commits that they come from.
 *
 * All are of the buildset's tested state, but for playbooks of config-projects and the roles that those use: they may have secrets, and
 * what is proposed must not read one before it is reviewed. So they are as they have landed.
 */
import type { BuildPlaybook, BuildRequest, BuildRole } from '../../model/build-request.ts';
import { landedHeads, type TestedMerge, testedHeads } from '../../model/build-set.ts';
import { type Change, targetBranchOf } from '../../model/change.ts';
import type { FrozenJob, JobRole, Playbook } from '../../model/job.ts';
import type { BranchHead } from '../../model/merge.ts';
import type { BranchName } from '../../model/project.ts';
import { headOf, type ProjectPlaces } from './build-projects.ts';

/** `missing`: no head is known of a project that is needed. */
export type BuildPlaybooks =
  | ({ readonly kind: 'found' } & Pick<BuildRequest, 'playbooks' | 'roles'>)
  | { readonly kind: 'missing'; readonly playbook: Playbook; readonly role?: JobRole };

/** A trusted playbook comes from exactly its branch. @param lead the change whose job it is; undefined: none, and so no branch. */
export function buildPlaybooks(
  job: FrozenJob,
  lead: Change | undefined,
  tested: TestedMerge,
  places: ProjectPlaces,
): BuildPlaybooks {
  const finder = new Finder(job, lead, tested, places);
  const phases: (readonly BuildPlaybook[])[] = [];
  for (const phase of [job.preRun, job.run, job.postRun]) {
    const found: BuildPlaybook[] = [];
    for (const playbook of phase) {
      const each = finder.playbook(playbook);
      if (each.kind === 'missing') return each;
      found.push(each.playbook);
    }
    phases.push(found);
  }
  const [preRun = [], run = [], postRun = []] = phases;
  const roles = finder.roles();
  return { kind: 'found', playbooks: { preRun, run, postRun }, ...(roles.length === 0 ? {} : { roles }) };
}

type Missing = Extract<BuildPlaybooks, { kind: 'missing' }>;

class Finder {
  readonly #job: FrozenJob;
  readonly #branch: BranchName | undefined;
  readonly #places: ProjectPlaces;
  readonly #tested: readonly BranchHead[];
  readonly #landed: readonly BranchHead[];
  readonly #roles: BuildRole[] = [];

  constructor(job: FrozenJob, lead: Change | undefined, tested: TestedMerge, places: ProjectPlaces) {
    this.#job = job;
    this.#branch = lead === undefined ? undefined : targetBranchOf(lead);
    this.#places = places;
    this.#tested = testedHeads(tested);
    this.#landed = landedHeads(tested);
  }

  /** Those that playbooks were found to need, each once. */
  roles(): readonly BuildRole[] {
    return this.#roles;
  }

  playbook(playbook: Playbook): { readonly kind: 'found'; readonly playbook: BuildPlaybook } | Missing {
    const { project, branch, trusted } = playbook;
    const head = trusted
      ? exactly(this.#landed, project, branch)
      : headOf(this.#tested, project, [branch, this.#places.defaultBranch(project)]);
    if (head === undefined) return { kind: 'missing', playbook };
    const roles: number[] = [];
    for (const place of playbook.roles ?? []) {
      const role = this.#job.roles?.[place];
      if (role === undefined)
        throw new Error(`playbook ${playbook.path} names role ${place}, which its job lacks`);
      const found = this.#role(role, playbook, head);
      if (found !== undefined) roles.push(this.#placeOf(role, found));
      else if (role.implicit !== true) return { kind: 'missing', playbook, role };
    }
    const { roles: _, ...plain } = playbook;
    const canonicalName = this.#places.canonicalName(project);
    const found = { ...plain, commit: head.commit, canonicalName, ...(roles.length === 0 ? {} : { roles }) };
    return { kind: 'found', playbook: found };
  }

  /** @param head of the playbook: a project's own roles are those beside it. */
  #role(role: JobRole, { project, trusted }: Playbook, head: BranchHead): BranchHead | undefined {
    if (role.project === project) return head;
    const heads = trusted ? this.#landed : this.#tested;
    if (role.branch !== undefined) return exactly(heads, role.project, role.branch);
    const { requiredProjects, overrideCheckout } = this.#job;
    const required = requiredProjects.find(each => each.project === role.project)?.overrideCheckout;
    return headOf(heads, role.project, [
      required ?? overrideCheckout,
      this.#branch,
      this.#places.defaultBranch(role.project),
    ]);
  }

  #placeOf({ project, name, implicit }: JobRole, { branch, commit }: BranchHead): number {
    const known = this.#roles.findIndex(
      each =>
        each.project === project &&
        each.name === name &&
        each.implicit === implicit &&
        each.commit === commit,
    );
    if (known >= 0) return known;
    const canonicalName = this.#places.canonicalName(project);
    const role = { project, name, ...(implicit === true ? { implicit } : {}), canonicalName, branch, commit };
    return this.#roles.push(role) - 1;
  }
}

function exactly(
  heads: readonly BranchHead[],
  project: BranchHead['project'],
  branch: BranchName,
): BranchHead | undefined {
  return heads.find(each => each.project === project && each.branch === branch);
}
