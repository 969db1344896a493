/** GitHub's own examples of webhook payloads as templates, and its schemas as judges. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import { problem } from './openapi.ts';
import { isShape, type Shape, shapeAt } from './shape.ts';

export interface WebhookExamples {
  /** A copy that its schema allows, but for what the caller replaces. */
  example(event: string, action?: string): Shape;
  problems(event: string, payload: Shape): readonly string[];
}

const require = createRequire(import.meta.url);
let loaded: WebhookExamples | undefined;

/** Read once in a process, when the first event is sent. */
export function webhookExamples(): WebhookExamples {
  loaded ??= load();
  return loaded;
}

function load(): WebhookExamples {
  const schema: Shape = JSON.parse(
    readFileSync(require.resolve('@octokit/webhooks-schemas/schema.json'), 'utf8'),
  );
  const all: { name: string; examples: Shape[] }[] = JSON.parse(
    readFileSync(require.resolve('@octokit/webhooks-examples/api.github.com/index.json'), 'utf8'),
  );
  const ajv = new Ajv({ strict: false, allErrors: true, inlineRefs: false });
  addFormats.default(ajv);
  const definitions = shapeAt(schema, 'definitions');
  // Without the root, of which each first use would compile all events.
  ajv.addSchema({ $id: 'hooks', definitions });
  const validators = new Map<string, ValidateFunction>();
  const validator = (event: string, action: unknown): ValidateFunction | undefined => {
    const name = `${event}$${typeof action === 'string' ? action : 'event'}`;
    if (definitions[name] === undefined) return undefined;
    let found = validators.get(name);
    if (found === undefined) {
      found = ajv.compile({ $ref: `hooks#/definitions/${name}` });
      validators.set(name, found);
    }
    return found;
  };
  const examplesOf = (event: string) => all.find(each => each.name === event)?.examples ?? [];
  const donor = shapeAt(
    examplesOf('pull_request').find(each => validator('pull_request', each.action)?.(each)),
  );
  return {
    example(event, action) {
      const examples = examplesOf(event);
      const fitting = examples.filter(each => action === undefined || each.action === action);
      // What changed is of another action.
      const { changes: _, ...other } = examples.at(-1) ?? { repository: donor.repository };
      const found = structuredClone(fitting.at(-1) ?? other);
      return completed(found, event === 'pull_request' ? donor : { ...donor, pull_request: simple(donor) });
    },
    problems(event, payload) {
      // Without a schema (newer events) the fake's word has to do.
      const check = validator(event, payload.action);
      if (check === undefined || check(payload)) return [];
      return (check.errors ?? []).filter(each => !isDeleted(each)).map(error => problem(error, event));
    },
  };
}

/** The published schemas know no deleted accounts and forks; GitHub sends null. */
function isDeleted({ instancePath, message }: ErrorObject): boolean {
  return /\/(user|repo)$/.test(instancePath) && message === 'must be object';
}

/** What a pull request has in its own events only. */
const COMPUTED =
  /^(merged|mergeable|rebaseable|mergeable_state|merged_by|comments|review_comments|maintainer_can_modify|commits|additions|deletions|changed_files)$/;

function simple(donor: Shape): Shape {
  const entries = Object.entries(shapeAt(donor, 'pull_request'));
  return Object.fromEntries(entries.filter(([name]) => !COMPUTED.test(name)));
}

/** Some examples are older than the schema: what they lack is taken from one that is not. */
function completed(example: Shape, donor: Shape): Shape {
  const result: Shape = { ...example };
  if (isShape(example.repository))
    result.repository = { ...shapeAt(donor, 'repository'), ...example.repository };
  if (!isShape(example.pull_request)) return result;
  const like = shapeAt(donor, 'pull_request');
  const side = (name: string) => ({
    ...shapeAt(example, 'pull_request', name),
    repo: {
      ...shapeAt(like, name, 'repo'),
      ...(isShape(shapeAt(example, 'pull_request', name).repo)
        ? shapeAt(example, 'pull_request', name, 'repo')
        : {}),
    },
  });
  result.pull_request = { ...like, ...example.pull_request, head: side('head'), base: side('base') };
  return result;
}
