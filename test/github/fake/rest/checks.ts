/** Check runs: made and changed by Apps only. */
import { tryGit } from '../bare-git.ts';
import { notFound, RequestRefused } from '../refused.ts';
import { isShape, type Shape, shapeAt, textAt } from '../shape.ts';
import { appShape, exampleOf } from '../shapes.ts';
import { type CheckRun, fullName, idOf, type Repository, timestamp, type World } from '../world.ts';
import { type Call, type Handlers, paged, type Reply, repositoryOf } from './call.ts';

export const checkHandlers: Handlers = {
  'checks/create': create,
  'checks/update': update,
  'checks/get': call => answer(call.world, repositoryOf(call), runOf(call)),
  'checks/list-for-ref': async call => {
    const { query, path, world } = call;
    const repository = repositoryOf(call);
    const sha = await commitOf(repository, path.ref ?? '');
    const wanted = (each: CheckRun) =>
      each.headSha === sha &&
      (query.check_name === undefined || each.name === query.check_name) &&
      (query.status === undefined || each.status === query.status) &&
      (query.app_id === undefined || each.app.id === Number(query.app_id));
    const found = repository.checks.filter(wanted);
    const latest = new Map(found.map(each => [`${each.app.id} ${each.name}`, each]));
    const all = (query.filter === 'all' ? found : [...latest.values()]).toReversed();
    return paged(
      call,
      all,
      each => checkShape(world, repository, each),
      runs => ({ total_count: all.length, check_runs: runs }),
    );
  },
  'checks/list-annotations': call => paged(call, runOf(call).annotations, each => each),
  'checks/rerequest-run': call => {
    const run = runOf(call);
    if (call.actor.kind === 'installation' && run.app.id !== call.world.app.id)
      throw new RequestRefused(403, 'Forbidden');
    call.events.check(repositoryOf(call), run, 'rerequested', call.actor.login);
    return { status: 201, body: {} };
  },
};

async function commitOf(repository: Repository, ref: string): Promise<string> {
  const sha = await tryGit(repository.dir, 'rev-parse', '--verify', '-q', `${ref}^{commit}`);
  if (sha === undefined) throw new RequestRefused(422, `No commit found for SHA: ${ref}`);
  return sha;
}

function runOf(call: Call): CheckRun {
  const found = repositoryOf(call).checks.find(each => each.id === Number(call.path.check_run_id));
  if (found === undefined) throw notFound();
  return found;
}

function answer(world: World, repository: Repository, run: CheckRun, status = 200): Reply {
  return { status, body: checkShape(world, repository, run) };
}

async function create(call: Call): Promise<Reply> {
  const { world, body, events, actor } = call;
  const repository = repositoryOf(call);
  const headSha = await commitOf(repository, String(body.head_sha));
  const { id, slug } = world.app;
  const run: CheckRun = {
    id: world.nextId(),
    suite: idOf(`${headSha} ${id}`),
    app: { id, slug },
    name: String(body.name),
    headSha,
    externalId: '',
    detailsUrl: null,
    status: 'queued',
    conclusion: null,
    startedAt: timestamp(world),
    completedAt: null,
    output: { title: null, summary: null, text: null },
    actions: [],
    annotations: [],
  };
  apply(world, run, body);
  repository.checks.push(run);
  events.check(repository, run, run.status === 'completed' ? 'completed' : 'created', actor.login);
  return answer(world, repository, run, 201);
}

function update(call: Call): Reply {
  const { world, body, events, actor } = call;
  const repository = repositoryOf(call);
  const run = runOf(call);
  if (run.app.id !== world.app.id)
    throw new RequestRefused(
      403,
      'Invalid app_id `' +
        `${world.app.id}` +
        '` - check run can only be modified by the GitHub App that created it.',
    );
  const before = run.status;
  apply(world, run, body);
  if (before !== 'completed' && run.status === 'completed')
    events.check(repository, run, 'completed', actor.login);
  return answer(world, repository, run);
}

const MOST_CHARACTERS = 65_535;

function apply(world: World, run: CheckRun, body: Shape): void {
  const output = isShape(body.output) ? body.output : undefined;
  const annotations = Array.isArray(output?.annotations) ? output.annotations : [];
  const tooLong = ['summary', 'text'].find(
    name => (textAt(output ?? {}, name)?.length ?? 0) > MOST_CHARACTERS,
  );
  if (tooLong !== undefined)
    throw new RequestRefused(
      422,
      `Invalid request.\n\nOnly ${MOST_CHARACTERS} characters are allowed; ${textAt(output ?? {}, tooLong)?.length} were supplied.`,
    );
  if (annotations.length > 50)
    throw new RequestRefused(
      422,
      `Invalid request.\n\nNo more than 50 items are allowed; ${annotations.length} were supplied.`,
    );
  run.externalId = textAt(body, 'external_id') ?? run.externalId;
  run.detailsUrl = textAt(body, 'details_url') ?? run.detailsUrl;
  run.startedAt = textAt(body, 'started_at') ?? run.startedAt;
  run.status = textAt(body, 'status') ?? run.status;
  if (Array.isArray(body.actions)) run.actions = body.actions;
  const conclusion = textAt(body, 'conclusion');
  if (conclusion !== undefined) Object.assign(run, { conclusion, status: 'completed' });
  else if (run.status !== 'completed') Object.assign(run, { conclusion: null, completedAt: null });
  if (run.status === 'completed')
    run.completedAt = textAt(body, 'completed_at') ?? run.completedAt ?? timestamp(world);
  if (output === undefined) return;
  const [title, summary, text] = ['title', 'summary', 'text'].map(name => textAt(output, name) ?? null);
  run.output = { title: title ?? run.output.title, summary: summary ?? null, text: text ?? null };
  const blank = { start_column: null, end_column: null, title: null, raw_details: null, blob_href: '' };
  run.annotations.push(...annotations.map(each => ({ ...blank, ...shapeAt(each) })));
}

function checkShape(world: World, repository: Repository, run: CheckRun): Shape {
  const api = `${world.api}/repos/${fullName(repository)}/check-runs/${run.id}`;
  return {
    ...shapeAt(exampleOf(world, 'checks/get', 200, repository)),
    id: run.id,
    node_id: `CR_${run.id}`,
    head_sha: run.headSha,
    external_id: run.externalId,
    url: api,
    html_url: `${world.origin}/${fullName(repository)}/runs/${run.id}`,
    details_url: run.detailsUrl,
    status: run.status,
    conclusion: run.conclusion,
    started_at: run.startedAt,
    completed_at: run.completedAt,
    name: run.name,
    check_suite: { id: run.suite },
    app: { ...appShape(world), id: run.app.id, slug: run.app.slug },
    pull_requests: [],
    output: {
      ...run.output,
      annotations_count: run.annotations.length,
      annotations_url: `${api}/annotations`,
    },
  };
}
