/** Holds events and answers against their forms. */

import type { TSchema } from 'typebox';
import { Compile } from 'typebox/schema';
import { EVENT_SHAPES, QUERY_ROW_SHAPE } from './event-shapes.ts';
import { ANSWER_SHAPES } from './rest-shapes.ts';

/** A request and its answer. */
export interface JudgedAnswer {
  readonly method: string;
  /** Below the root, without `/a`. */
  readonly path: string;
  readonly status: number;
  /** As parsed; a text that is no JSON as it is. */
  readonly body: unknown;
}

type Validator = ReturnType<typeof Compile>;
const validators = new Map<TSchema, Validator>();

/** @returns one line for each difference. */
export function eventViolations(event: unknown): readonly string[] {
  const type = typeof event === 'object' && event !== null && 'type' in event ? String(event.type) : '';
  const shape = EVENT_SHAPES.get(type);
  return shape === undefined
    ? [`an event of unknown type ${JSON.stringify(type)}`]
    : violations(type, shape, event);
}

/** Of a row of `gerrit query`. @returns one line for each difference. */
export function queryRowViolations(row: unknown): readonly string[] {
  return violations('gerrit query', QUERY_ROW_SHAPE, row);
}

/** @returns undefined: the driver relies on no form of it. */
export function answerViolations({
  method,
  path,
  status,
  body,
}: JudgedAnswer): readonly string[] | undefined {
  const what = `${method} ${path}`;
  if (status >= 400)
    return typeof body === 'string' ? [] : [`${what}: an error is plain text, not ${typeof body}`];
  const found = ANSWER_SHAPES.find(each => each.method === method && each.path.test(path));
  return found && violations(what, found.shape, body);
}

function violations(what: string, shape: TSchema, value: unknown): readonly string[] {
  const validator = validators.get(shape) ?? Compile(shape);
  validators.set(shape, validator);
  if (validator.Check(value)) return [];
  const [, errors] = validator.Errors(value);
  return errors.slice(0, 5).map(({ instancePath, message, params }) => {
    const facts = JSON.stringify(params).slice(0, 200);
    return `${what}: ${instancePath || '/'} ${message} ${facts}`;
  });
}
