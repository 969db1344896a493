/** Projects, their branches and HEAD. */
import { readRef, readRefs } from '../../../fake/bare-repository.ts';
import type { Shape } from '../../../github/fake/shape.ts';
import { isAdministrator, may } from '../authority.ts';
import { tryGit } from '../bare-git.ts';
import { signed } from '../change-shape.ts';
import { readCommit } from '../commits.ts';
import { moveRef } from '../doing/move-ref.ts';
import { RestRefused } from '../rest-refused.ts';
import { personShape } from '../shapes.ts';
import type { FakeAccount, FakeProject } from '../world.ts';
import { bodyOf, type RestAnswer, type RestCall, signedIn, textIn, visibleProject } from './call.ts';

export function listProjects(call: RestCall): RestAnswer {
  const { world, caller, query } = call;
  const [prefix, part, limit, start] = ['p', 'm', 'n', 'S'].map(name => query.get(name));
  const all = [...world.projects.values()]
    .filter(each => may(caller, 'read', each) && each.state !== 'HIDDEN')
    .filter(each => each.name.startsWith(prefix ?? '') && each.name.includes(part ?? ''))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const from = Number(start ?? 0);
  const page = all.slice(from, limit == null ? undefined : from + Number(limit));
  const entries = page.map(({ name, state }) => [name, { id: encodeURIComponent(name), state }] as const);
  return { status: 200, json: Object.fromEntries(entries) };
}

export function getProject(call: RestCall): RestAnswer {
  const project = visibleProject(call, call.parts[0] ?? '');
  const labels = project.labels.map(({ name, values }) => {
    const scale = Object.entries(values).map(([value, text]) => [signed(Number(value)), text] as const);
    return [name, { values: Object.fromEntries(scale), default_value: 0 }] as const;
  });
  const { name, state } = project;
  const json = { id: encodeURIComponent(name), name, parent: 'All-Projects', state };
  return { status: 200, json: { ...json, labels: Object.fromEntries(labels) } };
}

export function getHead(call: RestCall): RestAnswer {
  return { status: 200, json: `refs/heads/${visibleProject(call, call.parts[0] ?? '').head}` };
}

/** Labels are configuration, which only owners of the project read. */
export function getLabels(call: RestCall): RestAnswer {
  const project = visibleProject(call, call.parts[0] ?? '');
  if (!isAdministrator(call.caller)) throw new RestRefused(403, 'read refs/meta/config not permitted');
  const json = project.labels.map(({ name, values, function: kind }) => {
    const scale = Object.entries(values).map(([value, text]) => [signed(Number(value)), text] as const);
    const about = { name, project_name: project.name, function: kind, default_value: 0 };
    return { ...about, values: Object.fromEntries(scale) };
  });
  return { status: 200, json };
}

/** What Gerrit 3.2 shows of it to an account that may not read the configuration. */
export function getConfig(call: RestCall): RestAnswer {
  const { submitType, state } = visibleProject(call, call.parts[0] ?? '');
  const inherited = { configured_value: 'INHERIT', inherited_value: true };
  const json = {
    use_content_merge: inherited,
    require_change_id: inherited,
    max_object_size_limit: {},
    ...(state === 'ACTIVE' ? {} : { state }),
    submit_type: submitType,
    default_submit_type: {
      value: submitType,
      configured_value: submitType,
      inherited_value: 'MERGE_IF_NECESSARY',
    },
    actions: {},
    commentlinks: {},
    extension_panel_names: {},
  };
  return { status: 200, json };
}

export async function listBranches(call: RestCall): Promise<RestAnswer> {
  const project = visibleProject(call, call.parts[0] ?? '');
  const refs = await readRefs(project.dir);
  const branches = [...refs]
    .filter(([ref]) => ref.startsWith('refs/heads/'))
    .map(([ref, revision]) => branchShape(ref, revision, call.caller));
  const all = [{ ref: 'HEAD', revision: project.head }, ...branches];
  const from = Number(call.query.get('S') ?? 0);
  const limit = call.query.get('n');
  return { status: 200, json: all.slice(from, limit === null ? undefined : from + Number(limit)) };
}

function branchShape(ref: string, revision: string, caller: FakeAccount | null): Shape {
  return { ref, revision, ...(isAdministrator(caller) ? { can_delete: true } : {}) };
}

/** `refs/heads/` may be left out. */
function fullRef(name: string): string {
  return name.startsWith('refs/') ? name : `refs/heads/${name}`;
}

async function branchOf(project: FakeProject, name: string): Promise<{ ref: string; revision: string }> {
  const ref = fullRef(name);
  const revision = await readRef(project.dir, ref);
  if (revision === undefined) throw new RestRefused(404, `Not found: ${name}`);
  return { ref, revision };
}

export async function getBranch(call: RestCall): Promise<RestAnswer> {
  const project = visibleProject(call, call.parts[0] ?? '');
  const name = call.parts[1] ?? '';
  if (name === 'HEAD') return { status: 200, json: { ref: 'HEAD', revision: project.head } };
  const { ref, revision } = await branchOf(project, name);
  return { status: 200, json: branchShape(ref, revision, call.caller) };
}

export async function putBranch(call: RestCall): Promise<RestAnswer> {
  const by = signedIn(call);
  const project = visibleProject(call, call.parts[0] ?? '');
  if (!may(by, 'push', project)) throw new RestRefused(403, 'create not permitted');
  const ref = fullRef(call.parts[1] ?? '');
  if ((await readRef(project.dir, ref)) !== undefined)
    throw new RestRefused(409, `branch "${ref}" already exists`);
  const wanted = textIn(bodyOf(call), 'revision') ?? 'HEAD';
  const after = await tryGit(project.dir, 'rev-parse', '--verify', '--end-of-options', `${wanted}^{commit}`);
  if (after === undefined) throw new RestRefused(422, `invalid revision "${wanted}"`);
  await moveRef(call.world, { project, ref, after, by });
  return { status: 201, json: branchShape(ref, after, by) };
}

export async function removeBranch(call: RestCall): Promise<RestAnswer> {
  const by = signedIn(call);
  const project = visibleProject(call, call.parts[0] ?? '');
  if (!may(by, 'push', project)) throw new RestRefused(403, 'delete not permitted');
  const { ref } = await branchOf(project, call.parts[1] ?? '');
  await moveRef(call.world, { project, ref, after: null, by });
  return { status: 204 };
}

/** CommitInfo, which has no tree. */
export async function getCommit(call: RestCall): Promise<RestAnswer> {
  const project = visibleProject(call, call.parts[0] ?? '');
  const id = call.parts[1] ?? '';
  const commit = /^[0-9a-f]{40}$/.test(id)
    ? await readCommit(project.dir, id).catch(() => undefined)
    : undefined;
  if (commit === undefined) throw new RestRefused(404, `Not found: ${id}`);
  const parents = await Promise.all(
    commit.parents.map(async parent => ({
      commit: parent,
      subject: await subjectOfCommit(project.dir, parent),
    })),
  );
  const { author, committer, message } = commit;
  const people = { author: personShape(author), committer: personShape(committer) };
  return { status: 200, json: { commit: id, parents, ...people, subject: message.split('\n')[0], message } };
}

async function subjectOfCommit(dir: string, id: string): Promise<string> {
  return (await readCommit(dir, id)).message.split('\n')[0] ?? '';
}

export async function getTag(call: RestCall): Promise<RestAnswer> {
  const project = visibleProject(call, call.parts[0] ?? '');
  const ref = `refs/tags/${(call.parts[1] ?? '').replace(/^refs\/tags\//, '')}`;
  const revision = await readRef(project.dir, ref);
  if (revision === undefined) throw new RestRefused(404, `Not found: ${call.parts[1]}`);
  const object = await tryGit(project.dir, 'rev-parse', '--verify', `${revision}^{commit}`);
  return {
    status: 200,
    json: {
      ...(object === revision ? {} : { object }),
      ref,
      revision,
      ...(isAdministrator(call.caller) ? { can_delete: true } : {}),
    },
  };
}
