/** Runs a driver's query against GitHub's own schema (a slice), over the fake's world. */
import { readFileSync } from 'node:fs';
import {
  buildSchema,
  type DocumentNode,
  type ExecutionResult,
  execute,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  parse,
  type SelectionSetNode,
  validate,
} from 'graphql';
import type { Actor } from '../actor.ts';
import { covers } from '../authority.ts';
import { isShape, type Shape } from '../shape.ts';
import { type Repository, repositoryNamed, roleOf, type World } from '../world.ts';
import { refusal } from './page.ts';
import { actorNode } from './people.ts';
import { pullNode } from './pull.ts';
import { repositoryNode } from './repository.ts';

export interface QueryResult {
  readonly body: Shape;
  /** Points. */
  readonly cost: number;
  /** What is wrong with the query, or with the fake: not what GitHub would say of the world. */
  readonly problems: readonly string[];
}

/** Remaining points and when they are back, for `rateLimit`. */
export interface GraphqlBudget {
  readonly limit: number;
  readonly used: number;
  /** Seconds. */
  readonly reset: number;
}

let schema: GraphQLSchema | undefined;

function loadSchema(): GraphQLSchema {
  const file = new URL('../../schema/slice.graphql', import.meta.url);
  schema ??= buildSchema(readFileSync(file, 'utf8'), { assumeValidSDL: true, noLocation: true });
  return schema;
}

type ReadQuery =
  | { readonly kind: 'query'; readonly document: DocumentNode }
  | { readonly kind: 'wrong'; readonly errors: readonly GraphQLError[] };

/** By their texts, of which a driver has few. */
const read = new Map<string, ReadQuery>();

function readQuery(source: string): ReadQuery {
  const known = read.get(source) ?? judged(source);
  read.set(source, known);
  return known;
}

function judged(source: string): ReadQuery {
  try {
    const document = parse(source);
    const errors = validate(loadSchema(), document);
    return errors.length === 0 ? { kind: 'query', document } : { kind: 'wrong', errors };
  } catch (error) {
    if (error instanceof GraphQLError) return { kind: 'wrong', errors: [error] };
    throw error;
  }
}

export async function runQuery(
  world: World,
  actor: Actor,
  budget: GraphqlBudget,
  source: string,
  variables: Record<string, unknown>,
): Promise<QueryResult> {
  const query = readQuery(source);
  const cost = query.kind === 'wrong' ? 1 : costOf(query.document, variables);
  const result: ExecutionResult =
    query.kind === 'wrong'
      ? query
      : await execute({
          schema: loadSchema(),
          document: query.document,
          variableValues: variables,
          rootValue: rootNode(world, actor, budget, cost),
          typeResolver: value =>
            isShape(value) && typeof value.__typename === 'string' ? value.__typename : undefined,
        });
  const errors = result.errors ?? [];
  const body: Shape = {
    ...(result.data === undefined ? {} : { data: result.data }),
    ...(errors.length === 0 ? {} : { errors: errors.map(errorShape) }),
  };
  const ours = errors.filter(each => each.extensions.type === undefined);
  return {
    body,
    cost,
    problems: ours.map(({ message, path }) => `graphql ${path?.join('.') ?? ''}: ${message}`),
  };
}

/** GitHub puts the type beside the message, not below `extensions`. */
function errorShape({ message, path, locations, extensions }: GraphQLError): Shape {
  const { type, ...rest } = extensions;
  return {
    ...(type === undefined ? {} : { type }),
    ...(path === undefined ? {} : { path }),
    ...(Object.keys(rest).length === 0 ? {} : { extensions: rest }),
    ...(locations === undefined ? {} : { locations }),
    message,
  };
}

function rootNode(world: World, actor: Actor, { limit, used, reset }: GraphqlBudget, cost: number): Shape {
  const visible = (repository: Repository) => actor.kind !== 'installation' || covers(actor, repository);
  return {
    rateLimit: {
      cost,
      limit,
      used: used + cost,
      remaining: Math.max(0, limit - used - cost),
      resetAt: new Date(reset * 1000).toISOString(),
      nodeCount: 1,
    },
    viewer: () => actorNode(world, actor.login),
    repository: ({ owner, name }: { owner: string; name: string }) => {
      const found = repositoryNamed(world, `${owner}/${name}`) ?? movedTo(world, `${owner}/${name}`);
      if (found === undefined || !visible(found))
        throw refusal(`Could not resolve to a Repository with the name '${owner}/${name}'.`, 'NOT_FOUND');
      return { ...repositoryNode(world, found), viewerPermission: roleWord(actor, found) };
    },
    node: ({ id }: { id: string }) => nodeOf(world, id),
    nodes: ({ ids }: { ids: readonly string[] }) => ids.map(id => nodeOf(world, id)),
  };
}

/** An App has no role. */
function roleWord(actor: Actor, repository: Repository): string | null {
  return actor.kind === 'user' ? roleOf(repository, actor.login).toUpperCase() : null;
}

/** GraphQL follows renames. */
function movedTo(world: World, name: string): Repository | undefined {
  const id = world.moved.get(name.toLowerCase());
  return [...world.repositories.values()].find(each => each.id === id);
}

function nodeOf(world: World, id: string): Shape | null {
  for (const repository of world.repositories.values()) {
    if (id === `R_${repository.id}`) return repositoryNode(world, repository);
    const pull = [...repository.pulls.values()].find(each => id === `PR_${each.id}`);
    if (pull !== undefined) return pullNode(world, repository, pull);
  }
  return null;
}

/** GitHub's formula: one request for each parent of a connection, in hundreds, at least 1. */
function costOf({ definitions }: DocumentNode, variables: Record<string, unknown>): number {
  const requests = definitions.map(each =>
    'selectionSet' in each ? requestsOf(each.selectionSet, 1, variables) : 0,
  );
  return Math.max(1, Math.round(requests.reduce((sum, each) => sum + each, 0) / 100));
}

function requestsOf(
  set: SelectionSetNode | undefined,
  parents: number,
  variables: Record<string, unknown>,
): number {
  let sum = 0;
  for (const each of set?.selections ?? []) {
    if (each.kind === Kind.FRAGMENT_SPREAD) continue;
    const bound =
      each.kind === Kind.FIELD
        ? each.arguments?.find(({ name }) => name.value === 'first' || name.value === 'last')
        : undefined;
    if (bound === undefined) {
      sum += requestsOf(each.selectionSet, parents, variables);
      continue;
    }
    const { value } = bound;
    const size =
      value.kind === Kind.INT
        ? Number(value.value)
        : value.kind === Kind.VARIABLE
          ? Number(variables[value.name.value] ?? 1)
          : 1;
    sum += parents + requestsOf(each.selectionSet, parents * size, variables);
  }
  return sum;
}
