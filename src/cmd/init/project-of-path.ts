/** The project that a directory is on a connection of the git driver. Pure. */
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** One connection, as far as this concerns it. */
export interface BaseOfConnection {
  readonly connection: string;
  readonly baseurl: string;
}

/** @property project e.g. `acme/app`. */
export interface PlacedProject {
  readonly connection: string;
  readonly project: string;
}

/**
 * Every connection below whose directory the repository is.
 *
 *     /srv/git/acme/app.git  with baseurl = /srv/git                  acme/app
 *     /srv/git/acme/app.git  with baseurl = /srv/git/{project}.git    acme/app
 *
 * @param repository absolute.
 */
export function projectsAt(
  repository: string,
  connections: readonly BaseOfConnection[],
): readonly PlacedProject[] {
  return connections.flatMap(({ connection, baseurl }) => {
    const project = projectBelow(repository, baseurl);
    return project === undefined || project === '' ? [] : [{ connection, project }];
  });
}

function projectBelow(repository: string, baseurl: string): string | undefined {
  const base = baseurl.startsWith('file:') ? fileURLToPath(baseurl) : baseurl;
  if (!base.startsWith('/')) return undefined;
  const [front = '', back = ''] = base.includes('{project}') ? base.split('{project}') : [`${base}/`, ''];
  const beginning = path.normalize(front);
  if (!repository.startsWith(beginning) || !repository.endsWith(back)) return undefined;
  return repository.slice(beginning.length, repository.length - back.length).replace(/\.git$/, '');
}
