/** GitHub's own OpenAPI description: which operation a request is, whether it may be sent, whether the answer may be given. */
import { readFileSync } from 'node:fs';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import { isShape, type Shape, shapeAt } from './shape.ts';

export type Product = 'github.com' | 'ghes';

export interface Operation {
  /** E.g. `checks/create`. */
  readonly id: string;
  readonly method: string;
  readonly path: string;
  /** What is wrong with a request, each with its place; [] for one that GitHub's description allows. */
  requestProblems(path: Shape, query: Shape, body: unknown): readonly string[];
  answerProblems(status: number, body: unknown): readonly string[];
  /** The description's example of an answer, a copy. */
  example(status: number): unknown;
}

export interface Description {
  readonly product: Product;
  /** Version of the package that the slice was cut from. */
  readonly version: string;
  find(
    method: string,
    path: string,
  ): { operation: Operation; parameters: Record<string, string> } | undefined;
  operation(id: string): Operation;
}

const FILES: Record<Product, string> = { 'github.com': 'openapi-slice.json', ghes: 'ghes-slice.json' };
const loaded = new Map<Product, Description>();

/** Read once in a process; its validators are compiled when they are first needed. */
export function description(product: Product): Description {
  let found = loaded.get(product);
  if (found === undefined) {
    found = load(product);
    loaded.set(product, found);
  }
  return found;
}

function load(product: Product): Description {
  const file = new URL(`../schema/${FILES[product]}`, import.meta.url);
  const document = nullable(JSON.parse(readFileSync(file, 'utf8')));
  if (!isShape(document)) throw new Error('the slice is no object');
  const judges = { strict: judge(document, false), coercing: judge(document, true), document };
  const operations = Object.entries(shapeAt(document, 'paths')).flatMap(([path, item]) =>
    Object.entries(item as Shape).map(([method, body]) => ({
      ...operationOf(judges, method.toUpperCase(), path, body as Shape),
      ...pattern(path),
    })),
  );
  // The path with more letters of its own wins: `/pulls/{n}/merge` before `/pulls/{n}`.
  operations.sort((a, b) => b.literal - a.literal);
  return {
    product,
    version: String(shapeAt(document, 'info').version),
    find(method, path) {
      for (const operation of operations) {
        const match = operation.method === method ? operation.expression.exec(path) : null;
        if (match === null) continue;
        const values = operation.names.map((name, at) => [name, decodeURIComponent(match[at + 1] ?? '')]);
        return { operation, parameters: Object.fromEntries(values) };
      }
      return undefined;
    },
    operation(id) {
      const found = operations.find(each => each.id === id);
      if (found === undefined) throw new Error(`operation ${id} is not in the slice`);
      return found;
    },
  };
}

interface Judges {
  readonly strict: Ajv;
  readonly coercing: Ajv;
  readonly document: Shape;
}

function judge(document: Shape, coerce: boolean): Ajv {
  const ajv = new Ajv({
    strict: false,
    allErrors: true,
    inlineRefs: false,
    coerceTypes: coerce ? 'array' : false,
  });
  addFormats.default(ajv);
  for (const format of ['repo.nwo', 'timestamp', 'int64', 'ssh-key']) ajv.addFormat(format, true);
  return ajv.addSchema({ $id: 'gh', components: document.components });
}

/** Of these the value may have slashes. */
const WITH_SLASHES = new Set(['ref', 'branch', 'base', 'head']);

function pattern(path: string) {
  const names: string[] = [];
  const text = path.replace(/[.+]/g, '\\$&').replace(/\{(\w+)\}/g, (_, name: string) => {
    names.push(name);
    return WITH_SLASHES.has(name) ? '(.+?)' : '([^/]+)';
  });
  return { names, expression: new RegExp(`^${text}$`), literal: path.replace(/\{\w+\}/g, '').length };
}

function operationOf(
  { strict, coercing, document }: Judges,
  method: string,
  path: string,
  body: Shape,
): Operation {
  const resolve = (node: unknown): unknown =>
    isShape(node) && typeof node.$ref === 'string'
      ? resolve(shapeAt(document, ...node.$ref.split('/').slice(1)))
      : node;
  const parameters = ((body.parameters ?? []) as unknown[]).map(each => shapeAt(resolve(each)));
  const inPath = lazily(() => coercing.compile(parameterSchema(parameters, 'path')));
  const inQuery = lazily(() => coercing.compile(parameterSchema(parameters, 'query')));
  const wanted = resolve(body.requestBody);
  const wantedSchema = isShape(wanted) ? contentOf(wanted)?.schema : undefined;
  const inBody = lazily(() => strict.compile(closed(absolute(wantedSchema)) as Shape));
  const answers = new Map<number, () => ValidateFunction>();
  const contentOfAnswer = (status: number) => {
    const found = resolve(shapeAt(body, 'responses')[String(status)]);
    return isShape(found) ? { content: contentOf(found) } : undefined;
  };
  return {
    id: String(body.operationId),
    method,
    path,
    requestProblems(given, query, sent) {
      const found = [
        ...problems(inPath(), { ...given }, 'path'),
        ...problems(inQuery(), { ...query }, 'query'),
      ];
      if (wantedSchema === undefined) {
        const empty = sent === undefined || (isShape(sent) && Object.keys(sent).length === 0);
        return empty ? found : [...found, 'body: this operation takes none'];
      }
      if (sent !== undefined) return [...found, ...problems(inBody(), sent, 'body')];
      return isShape(wanted) && wanted.required === true ? [...found, 'body: is required'] : found;
    },
    answerProblems(status, sent) {
      const answer = contentOfAnswer(status);
      if (answer === undefined) return [`status ${status} is not described`];
      if (answer.content?.schema === undefined)
        return sent === undefined ? [] : ['a body where there is none'];
      let check = answers.get(status);
      if (check === undefined) {
        check = lazily(() => strict.compile(absolute(answer.content?.schema) as Shape));
        answers.set(status, check);
      }
      return problems(check(), sent, 'answer');
    },
    example(status) {
      const examples = contentOfAnswer(status)?.content?.examples;
      const first = resolve(Object.values(isShape(examples) ? examples : {})[0]);
      return structuredClone(isShape(first) ? first.value : undefined);
    },
  };
}

function contentOf(answer: Shape): Shape | undefined {
  const content = isShape(answer.content) ? answer.content['application/json'] : undefined;
  return isShape(content) ? content : undefined;
}

function parameterSchema(parameters: readonly Shape[], where: string): Shape {
  const ours = parameters.filter(each => each.in === where);
  return {
    type: 'object',
    additionalProperties: where === 'path',
    properties: Object.fromEntries(ours.map(each => [String(each.name), absolute(each.schema ?? {})])),
    required: ours.filter(each => each.required === true).map(each => each.name),
  };
}

function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function absolute(node: unknown): unknown {
  return JSON.parse(JSON.stringify(node).replaceAll('"$ref":"#/', '"$ref":"gh#/'));
}

function problems(validate: ValidateFunction, value: unknown, where: string): readonly string[] {
  return validate(value) ? [] : (validate.errors ?? []).map(error => problem(error, where));
}

/** One line: place, rule, and the value or key that broke it. */
export function problem({ instancePath, message, params }: ErrorObject, where: string): string {
  const key = params.additionalProperty === undefined ? '' : ` (${params.additionalProperty})`;
  const allowed = params.allowedValues === undefined ? '' : ` ${JSON.stringify(params.allowedValues)}`;
  return `${where}${instancePath}: ${message}${key}${allowed}`;
}

/** GitHub ignores keys that it does not know; a test wants to hear of the misspelt one. Not where schemas are combined. */
function closed(schema: unknown): unknown {
  if (!isShape(schema)) return schema;
  const result = { ...schema };
  if (isShape(result.properties)) {
    const entries = Object.entries(result.properties).map(([name, value]) => [name, closed(value)] as const);
    result.properties = Object.fromEntries(entries);
    if (result.additionalProperties === undefined && result.allOf === undefined)
      result.additionalProperties = false;
  }
  if (result.items !== undefined) result.items = closed(result.items);
  return result;
}

/** OpenAPI 3.0 says `nullable`, JSON Schema says a type `null`. */
function nullable(node: unknown, key = ''): unknown {
  if (Array.isArray(node)) return node.map(each => nullable(each));
  if (!isShape(node) || key === 'value') return node;
  const entries = Object.entries(node).map(([name, value]) => [name, nullable(value, name)] as const);
  const result: Shape = Object.fromEntries(entries);
  if (result.nullable !== true) return result;
  if (Array.isArray(result.enum) && !result.enum.includes(null)) result.enum = [...result.enum, null];
  if (result.type !== undefined) return result;
  const { nullable: _, ...rest } = result;
  return { anyOf: [rest, { type: 'null' }] };
}
