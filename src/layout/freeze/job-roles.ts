/**
 * Which roles the playbooks of a job get. Zuul's rules:
 *
 *     every definition adds the project of its file, and what it lists in `roles`: before those that were there
 *     a playbook gets the roles as of the definition that names it, and no later ones
 *
 * So a child cannot change what the playbooks of its parents do. A project that is there by itself and is then listed, under the same
 * name, keeps its place.
 */
import { isAnsiblePlaybook } from '../../model/ansible-playbook.ts';
import type { FrozenJob, JobRole, Playbook } from '../../model/job.ts';
import { projectIdOf } from '../../model/project.ts';
import type { LayoutFile } from '../model/layout.ts';
import type { JobAttributes } from '../stanzas/stanzas.ts';
import type { ProjectResolver } from '../tenant/resolve-project.ts';

/** A playbook while its job is put together. */
export interface DraftPlaybook extends Omit<Playbook, 'roles'> {
  readonly roles: readonly JobRole[];
}

/** The roles after one more definition, the first one to be searched first. @param listing a project lists the job: its file adds none by itself. */
export function withRoles(
  before: readonly JobRole[],
  { roles: listed = [] }: JobAttributes,
  file: LayoutFile,
  listing: boolean,
  resolve: ProjectResolver,
): readonly JobRole[] {
  const own = listing ? [] : [implicitRole(file)];
  const named = listed.flatMap(({ name, role }): readonly JobRole[] => {
    const resolved = resolve(name);
    // Unknown names broke the definition when the layout was built.
    return resolved.kind === 'unknown' ? [] : [{ project: resolved.project, name: role }];
  });
  const known = before.map(role => (role.implicit ? (named.find(each => isSame(each, role)) ?? role) : role));
  const added: JobRole[] = [];
  for (const role of [...own, ...named]) {
    const at = added.findIndex(each => isSame(each, role));
    if (at >= 0) added[at] = role;
    else if (!known.some(each => isSame(each, role))) added.push(role);
  }
  return [...added, ...known];
}

function implicitRole({ project, branch, trusted }: LayoutFile): JobRole {
  const last = projectIdOf(project).name.split('/').at(-1) ?? '';
  const name = last.replace(/^(ansible[-_.+]*)*(role[-_.+]*)*/, '') || last;
  return { project, name, implicit: true, ...(trusted ? { branch } : {}) };
}

function isSame(one: JobRole, other: JobRole): boolean {
  return one.project === other.project && one.name === other.name;
}

/** @param roles all of the job so far. */
export function rolesOf(path: string, roles: readonly JobRole[]): readonly JobRole[] {
  return isAnsiblePlaybook(path) ? roles : [];
}

type Phases = { readonly [phase in 'preRun' | 'run' | 'postRun']: readonly DraftPlaybook[] };

/** Each role is there once, and playbooks name its place. */
export function frozenPhases(phases: Phases): Pick<FrozenJob, 'preRun' | 'run' | 'postRun' | 'roles'> {
  const table: JobRole[] = [];
  const places = new Map<string, number>();
  const placeOf = (role: JobRole) => {
    const key = JSON.stringify([role.project, role.name, role.implicit, role.branch]);
    const place = places.get(key) ?? table.push(role) - 1;
    places.set(key, place);
    return place;
  };
  const frozen = (playbooks: readonly DraftPlaybook[]): readonly Playbook[] =>
    playbooks.map(({ roles, ...playbook }) =>
      roles.length === 0 ? playbook : { ...playbook, roles: roles.map(placeOf) },
    );
  const [preRun, run, postRun] = [frozen(phases.preRun), frozen(phases.run), frozen(phases.postRun)];
  return { preRun, run, postRun, ...(table.length === 0 ? {} : { roles: table }) };
}
