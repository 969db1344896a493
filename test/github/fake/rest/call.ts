/** One REST request as its handler gets it, and what the handler answers. */
import type { Actor, Credentials } from '../actor.ts';
import type { Deliveries } from '../deliveries.ts';
import type { Events } from '../events.ts';
import type { Limits } from '../limits.ts';
import { notFound } from '../refused.ts';
import type { Shape } from '../shape.ts';
import { type Pull, type Repository, repositoryNamed, type World } from '../world.ts';

/** What handlers work with. */
export interface Hub {
  readonly world: World;
  readonly events: Events;
  readonly deliveries: Deliveries;
  readonly credentials: Credentials;
  readonly limits: Limits;
}

export interface Call extends Hub {
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly body: Shape;
  readonly actor: Actor;
}

export interface Reply {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Number of the last page; absent: not paged. */
  readonly lastPage?: number;
  /** For lists paged by cursor: that of the next page. */
  readonly cursor?: string;
}

export type Handler = (call: Call) => Promise<Reply> | Reply;
/** By operation id. */
export type Handlers = { readonly [operation: string]: Handler };

export function repositoryOf({ world, path }: Pick<Call, 'world' | 'path'>): Repository {
  const found = repositoryNamed(world, `${path.owner}/${path.repo}`);
  if (found === undefined) throw notFound();
  return found;
}

export function pullOf(call: Call): { repository: Repository; pull: Pull } {
  const repository = repositoryOf(call);
  const pull = repository.pulls.get(Number(call.path.pull_number ?? call.path.issue_number));
  if (pull === undefined) throw notFound();
  return { repository, pull };
}

/** The page that was asked for. @param wrap where the list is a member of an object */
export async function paged<T>(
  { query }: Call,
  all: readonly T[],
  shape: (each: T) => unknown,
  wrap: (page: readonly unknown[]) => unknown = page => page,
): Promise<Reply> {
  const size = Math.min(100, Math.max(1, Number(query.per_page ?? 30)));
  const from = (Number(query.page ?? 1) - 1) * size;
  const page = await Promise.all(all.slice(from, from + size).map(shape));
  return { status: 200, body: wrap(page), lastPage: Math.max(1, Math.ceil(all.length / size)) };
}
