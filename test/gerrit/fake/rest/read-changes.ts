/** `changes/?q=…`, `changes/N`, `changes/N/detail`, and what belongs together with a change. */
import { createHash } from 'node:crypto';
import { seesChange } from '../authority.ts';
import { changeOptions } from '../change-options.ts';
import { changeShape, DETAIL_OPTIONS } from '../change-shape.ts';
import { compileQuery } from '../expression.ts';
import { RestRefused } from '../rest-refused.ts';
import { type ChangeState, type FakeChange, stateInIndex } from '../world.ts';
import { changeNamed, type RestAnswer, type RestCall } from './call.ts';

/** Most results of one query. */
const QUERY_LIMIT = 500;

export async function queryChanges(call: RestCall): Promise<RestAnswer> {
  const queries = call.query.getAll('q');
  const results = await Promise.all(
    (queries.length === 0 ? ['status:open'] : queries).map(each => runQuery(call, each)),
  );
  const { frozen } = call.world.index;
  if (frozen !== null && --frozen.reads <= 0) call.world.index.frozen = null;
  return { status: 200, json: results.length === 1 ? results[0] : results };
}

async function runQuery(call: RestCall, text: string): Promise<readonly unknown[]> {
  const { world, caller, query } = call;
  const { matches, limit } = compileQuery(text);
  const found: { readonly change: FakeChange; readonly state: ChangeState }[] = [];
  for (const change of world.changes.values()) {
    const state = stateInIndex(world, change);
    if (state === undefined || !seesChange(caller, change)) continue;
    if (matches({ world, change, state, viewer: caller })) found.push({ change, state });
  }
  const seconds = ({ updatedAt }: ChangeState) => Math.trunc(updatedAt / 1000);
  found.sort((a, b) => seconds(b.state) - seconds(a.state) || b.change.number - a.change.number);
  const start = countOf(call, 'S', 'start') ?? 0;
  const wanted = Math.min(countOf(call, 'n', 'limit') ?? QUERY_LIMIT, limit ?? QUERY_LIMIT, QUERY_LIMIT);
  const page = found.slice(start, start + wanted);
  const options = changeOptions(world.version, query.getAll('o'));
  const shapes = await Promise.all(
    page.map(({ change, state }) => changeShape(world, change, { viewer: caller, options, state })),
  );
  const last = shapes.at(-1);
  if (last !== undefined && start + wanted < found.length) last._more_changes = true;
  return shapes;
}

function countOf({ query }: RestCall, ...names: readonly string[]): number | undefined {
  const text = names.map(name => query.get(name)).find(each => each !== null);
  if (text === undefined || text === null) return undefined;
  if (!/^\d+$/.test(text)) throw new RestRefused(400, `"${text}" is not a valid value for "-${names[0]}"`);
  return Number(text);
}

export async function getChange(call: RestCall, more: readonly string[] = []): Promise<RestAnswer> {
  const change = changeNamed(call, call.parts[0] ?? '');
  const options = changeOptions(call.world.version, [...call.query.getAll('o'), ...more]);
  const json = await changeShape(call.world, change, { viewer: call.caller, options });
  const seen = `${change.meta} ${call.caller?.id} ${[...options].join()} ${json.mergeable}`;
  return { status: 200, json, headers: { etag: createHash('md5').update(seen).digest('hex') } };
}

export function getDetail(call: RestCall): Promise<RestAnswer> {
  return getChange(call, DETAIL_OPTIONS);
}
