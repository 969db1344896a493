/** A REST request that was understood, and helpers of its handlers. */
import { isShape, type Shape } from '../../../github/fake/shape.ts';
import { may, seesChange } from '../authority.ts';
import { RestRefused } from '../rest-refused.ts';
import type { FakeAccount, FakeChange, FakeProject, GerritWorld, PatchSet } from '../world.ts';

export interface RestCall {
  readonly world: GerritWorld;
  readonly caller: FakeAccount | null;
  readonly query: URLSearchParams;
  /** Decoded parts of the path, in the order of the route. */
  readonly parts: readonly string[];
  readonly body: unknown;
}

export interface RestAnswer {
  readonly status: number;
  /** Sent as JSON; absent: no body. */
  readonly json?: unknown;
  /** Sent as it is, in place of JSON. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** @throws RestRefused 403 */
export function signedIn({ caller }: RestCall): FakeAccount {
  if (caller === null) throw new RestRefused(403, 'Authentication required');
  return caller;
}

/** By number, Change-Id, `project~number` or `project~branch~Change-Id`. @throws RestRefused 404: not there, or not visible */
export function changeNamed({ world, caller }: RestCall, name: string): FakeChange {
  const found = [...world.changes.values()].filter(each => isNamed(each, name));
  const [change] = found;
  if (found.length > 1) throw new RestRefused(404, `Multiple changes found for ${name}`);
  if (change === undefined || !seesChange(caller, change)) throw new RestRefused(404, `Not found: ${name}`);
  return change;
}

function isNamed({ number, changeId, project, now }: FakeChange, name: string): boolean {
  const [first = '', second = '', third] = name.split('~');
  if (third !== undefined) return project.name === first && now.branch === second && changeId === third;
  if (second !== '') return project.name === first && String(number) === second;
  return first === changeId || first === String(number);
}

/** By `current`, number or commit (also abbreviated). @throws RestRefused 404 */
export function patchSetNamed(change: FakeChange, name: string): PatchSet {
  const { patchSets } = change.now;
  const found =
    name === 'current'
      ? patchSets.at(-1)
      : patchSets.find(
          each => String(each.number) === name || (name.length >= 7 && each.commit.startsWith(name)),
        );
  if (found === undefined) throw new RestRefused(404, `Not found: ${name}`);
  return found;
}

/** @throws RestRefused 404 */
export function visibleProject({ world, caller }: RestCall, name: string): FakeProject {
  const found = world.projects.get(name);
  if (found === undefined || !may(caller, 'read', found)) throw new RestRefused(404, `Not found: ${name}`);
  return found;
}

/** By username, number, email or `self`. @throws RestRefused 404 */
export function accountOf({ world, caller }: RestCall, name: string): FakeAccount {
  if (name === 'self' && caller !== null) return caller;
  const found = [...world.accounts.values()].find(each =>
    [each.username, each.email, String(each.id), each.name].includes(name),
  );
  if (found === undefined) throw new RestRefused(404, `Account '${name}' not found`);
  return found;
}

export function bodyOf({ body }: RestCall): Shape {
  if (body === undefined) return {};
  if (!isShape(body)) throw new RestRefused(400, 'Expected JSON object');
  return body;
}

export function textIn(shape: Shape, name: string): string | undefined {
  const value = shape[name];
  return typeof value === 'string' ? value : undefined;
}
