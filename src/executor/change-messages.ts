/**
 * Adds the complete messages of a build's changes: `change_message` of `zuul`, `zuul.items` and `zuul.buildset_refs`, and that of
 * its own change as `zuul.message`, in base64: Zuul's names and values.
 *
 * They are read from the commits, which the mirrors hold once the workspace exists. So texts of arbitrary length are never stored
 * once per item ahead; the request carries first lines, which remain where a message cannot be read.
 */
import type { BuildRequest } from '../model/build-request.ts';
import type { Json } from '../model/job.ts';
import { type ProjectKey, parseCommitId } from '../model/project.ts';
import type { Repositories } from './deps.ts';

type Variables = BuildRequest['zuul'];

/** Characters of all messages of a build: a chain of two hundred changes with long ones stays a file that is quick to read. */
const MOST_CHARACTERS = 4_000_000;

/**
 * @param repositories must hold the commits already: nothing is fetched.
 * @returns the `zuul` variables; a message that cannot be read, or for which there is no room left, stays the first line.
 */
export async function withMessages(
  { zuul, projects }: Pick<BuildRequest, 'zuul' | 'projects'>,
  repositories: Pick<Repositories, 'commitMessage'>,
): Promise<Variables> {
  const places = new Map(projects.map(({ canonicalName, project }) => [canonicalName, project]));
  const known = new Map<string, string | undefined>();
  let left = MOST_CHARACTERS;

  async function messageOf(variables: Variables): Promise<string | undefined> {
    const { commit_id: commit, project } = variables;
    const place = isVariables(project) ? places.get(String(project.canonical_name)) : undefined;
    if (place === undefined || typeof commit !== 'string' || variables.change_message === undefined)
      return undefined;
    if (!known.has(commit)) known.set(commit, await read(place, commit));
    return known.get(commit);
  }

  async function read(project: ProjectKey, commit: string): Promise<string | undefined> {
    const message = await repositories.commitMessage(project, parseCommitId(commit));
    if (message === undefined || message.length > left) return undefined;
    left -= message.length;
    return message;
  }

  async function completed(variables: Variables): Promise<Variables> {
    const message = await messageOf(variables);
    return message === undefined ? variables : { ...variables, change_message: message };
  }

  async function completedList(name: 'items' | 'buildset_refs'): Promise<Variables> {
    const list = zuul[name];
    if (!Array.isArray(list)) return {};
    const done: Json[] = [];
    for (const each of list) done.push(isVariables(each) ? await completed(each) : each);
    return { [name]: done };
  }

  const own = await completed(zuul);
  const { change_message: message } = own;
  return {
    ...own,
    ...(typeof message === 'string' ? { message: Buffer.from(message).toString('base64') } : {}),
    ...(await completedList('items')),
    ...(await completedList('buildset_refs')),
  };
}

function isVariables(value: Json | undefined): value is Variables {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
