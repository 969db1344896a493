/**
 * Holds answers of a service against its own OpenAPI description. Stricter than the description: a member that it does not
 * name is a mistake, too.
 *
 *     const contract = contractOf(await (await fetch(`${url}/openapi.json`)).json());
 *     expect(contract.problems({ method: 'GET', path: '/api/info', status: 200, type, text })).toEqual([]);
 */
import { Ajv2020 } from 'ajv/dist/2020.js';

interface GivenAnswer {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly status: number;
  /** Content-Type. */
  readonly type: string;
  readonly text: string;
}

export interface Contract {
  /** Empty: the answer is as described. */
  problems(answer: GivenAnswer): readonly string[];
  /** Validates a document of the live stream by the name of its schema. */
  problemsOf(schema: string, document: unknown): readonly string[];
  /** Described operations of which an answer was seen, as `GET /api/info 200`. */
  readonly seen: ReadonlySet<string>;
  /** `GET /api/info`, in order of the description. */
  readonly operations: readonly string[];
}

/** The page is not part of the API. */
const PAGE = /^\/($|t\/)/;

export interface Described {
  readonly paths: { readonly [path: string]: { readonly [method: string]: Operation } };
  readonly components: { readonly schemas: { readonly [name: string]: unknown } };
}

interface Operation {
  readonly responses: {
    readonly [status: string]: { readonly content: { readonly [media: string]: object } };
  };
}

/** Of every answer to what is described nowhere: another method, another path. */
const ELSEWHERE = new Set([404, 405, 503]);

export function contractOf(description: Described): Contract {
  const ajv = new Ajv2020({ strict: true, allErrors: true, allowUnionTypes: true });
  ajv.addVocabulary(['openapi', 'info', 'servers', 'paths', 'components']);
  ajv.addSchema(strict(description) as object, 'api');
  const seen = new Set<string>();
  const operations = Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      path,
      pattern: patternOf(path),
      operation,
    })),
  );

  function validate(pointer: string, value: unknown): readonly string[] {
    const check = ajv.getSchema(`api#${pointer}`);
    if (check === undefined) return [`nothing is described at ${pointer}`];
    check(value);
    return (check.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    );
  }

  return {
    seen,
    operations: operations.map(({ name }) => name),
    problemsOf: (schema, document) => validate(`/components/schemas/${schema}`, document),
    problems({ method, path, status, type, text }) {
      const [plain = ''] = path.split('?');
      if (PAGE.test(plain) && type.startsWith('text/html')) return [];
      const found = operations.find(each => each.method === method && each.pattern.test(plain));
      if (found === undefined) {
        if (!ELSEWHERE.has(status)) return [`${method} ${path} is not described and answered ${status}`];
        return validate('/components/schemas/Refusal', JSON.parse(text));
      }
      seen.add(`${found.name} ${status}`);
      const media = type.split(';')[0] ?? '';
      const response = found.operation.responses[status];
      if (response === undefined) return [`${found.name}: ${status} is not described`];
      if (status === 204) return text === '' && media === '' ? [] : [`${found.name} 204: it has a body`];
      if (response.content[media] === undefined)
        return [`${found.name} ${status}: ${media} is not described`];
      if (!('schema' in response.content[media])) return [];
      const steps = [
        'paths',
        found.path,
        method.toLowerCase(),
        'responses',
        String(status),
        'content',
        media,
      ];
      const pointer = [...steps, 'schema']
        .map(step => encodeURIComponent(step.replaceAll('/', '~1')))
        .join('/');
      return validate(`/${pointer}`, JSON.parse(text)).map(problem => `${found.name} ${status}: ${problem}`);
    },
  };
}

/** `{change}` and `{project}` take slashes. */
function patternOf(path: string): RegExp {
  const source = path
    .replaceAll('.', '\\.')
    .replaceAll(/\{(\w+)\}/g, (_, name) => (name === 'change' || name === 'project' ? '.+' : '[^/]+'));
  return new RegExp(`^${source}/?$`);
}

/** Objects have the members that are described, and no others. */
function strict(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(strict);
  if (typeof value !== 'object' || value === null) return value;
  const inner = Object.fromEntries(Object.entries(value).map(([name, each]) => [name, strict(each)]));
  const isObject = 'properties' in value && 'type' in value && value.type === 'object';
  return isObject ? { ...inner, additionalProperties: false } : inner;
}
