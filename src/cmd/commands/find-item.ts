/**
 * Finds the item a user names by uuid, by the beginning of one, or by project and change (then the newest item, live or finished).
 *
 *     gatehouse trace 0e2c2081a6079c1966965c9101e6aded
 *     gatehouse trace 0e2c20
 *     gatehouse trace acme/app master/login
 *     gatehouse trace . master/login           in a checkout of acme/app
 */
import type { FinishedItem } from '../../api/live-item.ts';
import { currentView } from '../client/follow.ts';
import { namedProject } from './checkout-project.ts';
import { type Refused, refused } from './refused.ts';
import { type Session, tenantPath } from './session.ts';

/** @property uuid 32 hexadecimal digits. One that the user gave whole is not checked: the service answers 404 later. */
export interface FoundItem {
  readonly kind: 'item';
  readonly uuid: string;
}

/** Fields that identify an item within its tenant. */
type Known = Pick<FinishedItem, 'uuid' | 'pipeline' | 'changes' | 'enqueuedAt'>;

type Asked = Pick<Session, 'api' | 'tenant'>;

const SHORTEST_PREFIX = 6;
const PAGE = 100;
/** Pages of finished items searched for the beginning of a uuid. */
const PAGES = 10;

/** Help for the arguments of commands that take an item. */
export const ITEM_ARGUMENT =
  'uuid of an item, its first 6 or more digits, or a project, "." for that of the checkout (then also name a change)';
/** Help for the second one, with which the first names a project. */
export const CHANGE_ARGUMENT =
  'change of that project, e.g. master/login or refs/heads/master: its newest item';

/** @throws ApiError */
export async function findItem(
  session: Asked & Pick<Session, 'io'>,
  item: string,
  change: string | undefined,
  pipeline?: string,
): Promise<FoundItem | Refused> {
  if (change !== undefined) {
    const project = await namedProject(session, item);
    return typeof project === 'string' ? newestItem(session, project, change, pipeline) : project;
  }
  const digits = item.toLowerCase().replaceAll('-', '');
  if (/^[0-9a-f]{32}$/.test(digits)) return { kind: 'item', uuid: digits };
  if (!/^[0-9a-f]+$/.test(digits)) {
    return refused(
      `"${item}" is not a uuid or the beginning of one; to name a change, write its project first: acme/app master/login`,
    );
  }
  if (digits.length < SHORTEST_PREFIX)
    return refused(`"${item}" is too short: give at least ${SHORTEST_PREFIX} digits of the uuid`);
  return itemByPrefix(session, digits);
}

async function itemByPrefix(session: Asked, prefix: string): Promise<FoundItem | Refused> {
  const found = new Map<string, Known>();
  for await (const items of allItems(session)) {
    for (const item of items) if (item.uuid.startsWith(prefix)) found.set(item.uuid, item);
  }
  const [first, ...others] = [...found.values()];
  if (first === undefined) {
    return refused(
      `no item in the queues of ${session.tenant} or among its last ${PAGE * PAGES} finished items begins with ${prefix}; give the whole uuid of an older item`,
    );
  }
  if (others.length === 0) return { kind: 'item', uuid: first.uuid };
  const list = [first, ...others].map(
    item => `\n  ${item.uuid}  ${item.pipeline}  ${item.changes.map(({ text }) => text).join(', ')}`,
  );
  return refused(`${list.length} items begin with ${prefix}; give more digits:${list.join('')}`);
}

/** Live items, then the finished ones, newest first, page by page. */
async function* allItems({ api, tenant }: Asked): AsyncGenerator<readonly Known[]> {
  yield [...(await currentView(api, tenant)).items.values()];
  for (let page = 0; page < PAGES; page++) {
    const items = await api.get<readonly FinishedItem[]>(
      tenantPath({ tenant }, `items?limit=${PAGE}&skip=${page * PAGE}`),
    );
    yield items;
    if (items.length < PAGE) return;
  }
}

async function newestItem(
  session: Asked,
  project: string,
  change: string,
  pipeline: string | undefined,
): Promise<FoundItem | Refused> {
  const uuid =
    (await liveItemOf(session, project, change, pipeline)) ??
    (await finishedItemOf(session, project, change, pipeline));
  if (uuid !== undefined) return { kind: 'item', uuid };
  const where = pipeline === undefined ? `tenant ${session.tenant}` : `pipeline ${pipeline}`;
  return refused(
    `${project} ${change} is not in ${where} and never was; see "gatehouse why ${project} ${change}"`,
  );
}

/** The newest live item of a change. */
export async function liveItemOf(
  { api, tenant }: Asked,
  project: string,
  change: string,
  pipeline?: string,
): Promise<string | undefined> {
  const isIt = (item: Known) =>
    item.changes.some(
      each => each.name === change && (each.project === project || project.endsWith(`/${each.project}`)),
    );
  const { items } = await currentView(api, tenant);
  return [...items.values()]
    .filter(
      item => item.role === 'live' && isIt(item) && (pipeline === undefined || item.pipeline === pipeline),
    )
    .toSorted((a, b) => b.enqueuedAt - a.enqueuedAt)[0]?.uuid;
}

interface BuildsetAnswer {
  readonly refs: readonly { readonly ref: string; readonly newrev: string | null }[];
  readonly gatehouse: { readonly item: string };
}

async function finishedItemOf(
  session: Asked,
  project: string,
  change: string,
  pipeline: string | undefined,
): Promise<string | undefined> {
  return (await newestBuildset(session, project, change, pipeline))?.gatehouse.item;
}

/** The newest buildset in the history; it also shows the last commit of an updated ref. */
export async function newestBuildset(
  { api, tenant }: Asked,
  project: string,
  change: string,
  pipeline?: string,
): Promise<BuildsetAnswer | undefined> {
  const question = new URLSearchParams({
    limit: '1',
    project,
    [change.startsWith('refs/') ? 'ref' : 'change']: change,
  });
  if (pipeline !== undefined) question.set('pipeline', pipeline);
  const [newest] = await api.get<readonly BuildsetAnswer[]>(tenantPath({ tenant }, `buildsets?${question}`));
  return newest;
}
