/** A GraphQL connection, with GitHub's own refusals of pages that are too large or have no bound. */
import { GraphQLError } from 'graphql';
import type { Shape } from '../shape.ts';

export interface PageArguments {
  readonly first?: number | null;
  readonly last?: number | null;
  readonly after?: string | null;
  readonly before?: string | null;
}

/** @param name of the connection, for refusals */
export function page<T>(
  name: string,
  nodes: readonly T[],
  { first, last, after, before }: PageArguments,
): Shape {
  const size = first ?? last;
  if (size === undefined || size === null)
    throw refusal(
      `You must provide a \`first\` or \`last\` value to properly paginate the \`${name}\` connection.`,
      'MISSING_PAGINATION_BOUNDARIES',
    );
  if (size > 100)
    throw refusal(
      `Requesting ${size} records on the \`${name}\` connection exceeds the \`first\` limit of 100 records.`,
      'EXCESSIVE_PAGINATION',
    );
  const from = after === undefined || after === null ? 0 : position(after);
  const to = before === undefined || before === null ? nodes.length : position(before) - 1;
  const window = nodes.slice(from, to);
  const part = first === undefined || first === null ? window.slice(-size) : window.slice(0, size);
  const start = first === undefined || first === null ? from + window.length - part.length : from;
  return {
    nodes: part,
    edges: part.map((node, at) => ({ node, cursor: cursor(start + at + 1) })),
    totalCount: nodes.length,
    pageInfo: {
      hasNextPage: start + part.length < nodes.length,
      hasPreviousPage: start > 0,
      startCursor: part.length === 0 ? null : cursor(start + 1),
      endCursor: part.length === 0 ? null : cursor(start + part.length),
    },
  };
}

export function refusal(message: string, type: string): GraphQLError {
  return new GraphQLError(message, { extensions: { type } });
}

function cursor(at: number): string {
  return Buffer.from(`cursor:${at}`).toString('base64');
}

function position(text: string): number {
  return Number(Buffer.from(text, 'base64').toString().replace('cursor:', ''));
}
