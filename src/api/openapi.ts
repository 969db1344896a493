/** The OpenAPI 3.1 description of the service, generated from the table of routes. */

import type { Json } from '../model/job.ts';
import type { Parameter, QueryTable } from './queries.ts';
import { type Body, DOCUMENTS, PATH_PARAMETERS, ROUTES, type RouteDescription } from './routes.ts';
import type { Schema } from './schema.ts';

/** A complete OpenAPI document. */
export type OpenApi = { readonly [name: string]: Json };

/** @param root public address of the service. */
export function openApi(version: string, root: string): OpenApi {
  const paths: { [path: string]: { [method: string]: Json } } = {};
  for (const route of ROUTES) {
    paths[route.path] ??= {};
    Object.assign(paths[route.path] ?? {}, { [route.method]: operation(route) });
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Gatehouse',
      version,
      description: 'Paths and names are those of Zuul if Zuul has them.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: root }],
    paths,
    components: {
      schemas: Object.fromEntries(Object.entries(DOCUMENTS).map(([name, schema]) => [name, plain(schema)])),
      securitySchemes: { token: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
    },
  };
}

function operation(route: RouteDescription): Json {
  const parameters = [...pathParameters(route.path), ...queryParameters(route.query ?? {})];
  return {
    summary: route.summary,
    operationId: operationId(route),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined ? {} : { requestBody: { required: true, content: contentOf(route.body) } }),
    responses: responses(route),
    ...(route.needsToken === true ? { security: [{ token: [] }] } : {}),
    ...(route.guarded !== undefined && route.needsToken !== true ? { security: [{}, { token: [] }] } : {}),
  };
}

/** `getApiTenantItemExplain` of `GET /api/tenant/{tenant}/item/{uuid}/explain`. */
function operationId({ method, path }: RouteDescription): string {
  const words = path.replaceAll(/\{\w+\}/g, '').match(/[a-z0-9]+/g) ?? [];
  const one = /\{(uuid|path|id)\}$/.test(path) ? 'One' : '';
  return method + words.map(word => word.slice(0, 1).toUpperCase() + word.slice(1)).join('') + one;
}

function pathParameters(path: string): readonly Json[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const known = PATH_PARAMETERS[name];
    if (known === undefined) throw new Error(`the path parameter ${name} is not described`);
    return {
      name,
      in: 'path',
      required: true,
      description: known.description,
      schema: plain(known.schema),
    };
  });
}

function queryParameters(table: QueryTable): readonly Json[] {
  return Object.entries(table).map(([name, parameter]) => ({
    name,
    in: 'query',
    required: false,
    ...(parameter.description === undefined ? {} : { description: parameter.description }),
    schema: schemaOf(parameter),
  }));
}

function schemaOf(parameter: Parameter): Json {
  switch (parameter.kind) {
    case 'text':
      return { type: 'string' };
    case 'texts':
      return { type: 'array', items: { type: 'string' } };
    case 'boolean':
      return { type: 'boolean' };
    case 'integer':
      return {
        type: 'integer',
        minimum: parameter.min,
        maximum: parameter.max,
        ...(parameter.default === undefined ? {} : { default: parameter.default }),
      };
  }
}

const REASONS: { readonly [status: number]: string } = {
  200: 'Success',
  202: 'Accepted',
  400: 'A parameter or body is malformed',
  401: 'No token, an invalid token, or an invalid signature',
  403: 'The token does not allow it',
  404: 'Not found; the text names what',
  408: 'The body did not arrive in time',
  204: 'Done',
  410: 'Pruned',
  413: 'The body is too large',
  415: 'The body is compressed or of the wrong type',
  426: 'Only for a WebSocket',
  429: 'Too many requests; see Retry-After',
  500: 'Internal server error; see the log of the service',
  503: 'Not ready, overloaded, or the store is unreachable; see Retry-After',
};

const ANY_TIME = [500, 503];

function responses(route: RouteDescription): Json {
  const refusal = contentOf({ document: 'Refusal' });
  const all: { [status: string]: Json } = {};
  for (const status of [...route.refusals, ...ANY_TIME])
    all[status] = { description: REASONS[status] ?? '', content: refusal };
  for (const [status, body] of Object.entries(route.answers))
    all[status] = {
      description: REASONS[Number(status)] ?? '',
      ...(route.headers === undefined ? {} : { headers: headersOf(route.headers) }),
      content: contentOf(body),
    };
  return all;
}

function headersOf(headers: { readonly [name: string]: string }): Json {
  return Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
  );
}

function contentOf(body: Body): Json {
  if ('media' in body) return Object.fromEntries(body.media.map(media => [media, {}]));
  return { 'application/json': { schema: jsonSchemaOf(body) } };
}

function jsonSchemaOf(body: Exclude<Body, { readonly media: readonly string[] }>): Json {
  if ('document' in body) return { $ref: `#/components/schemas/${body.document}` };
  if ('listOf' in body) return { type: 'array', items: { $ref: `#/components/schemas/${body.listOf}` } };
  return plain(body.schema);
}

/** The schema as plain JSON, without the members that only the types need. */
function plain(schema: Schema): Json {
  return JSON.parse(JSON.stringify(schema));
}
