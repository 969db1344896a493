/** Judges what goes to and comes from the fake by the types of Kubernetes' own OpenAPI document, of which an excerpt lies beside this file. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv, type ValidateFunction } from 'ajv';

const { definitions } = JSON.parse(
  readFileSync(path.join(import.meta.dirname, 'openapi-excerpt.json'), 'utf8'),
) as { readonly definitions: { readonly [name: string]: object } };
const ajv = new Ajv({ strict: false, validateFormats: false });

const KINDS: { readonly [kind: string]: string } = {
  Pod: 'io.k8s.api.core.v1.Pod',
  PodList: 'io.k8s.api.core.v1.PodList',
  Status: 'io.k8s.apimachinery.pkg.apis.meta.v1.Status',
  DeleteOptions: 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions',
};
const judges = new Map<string, ValidateFunction>();

/** The body itself. @throws Error for one that is of no known kind, or not of its kind. */
export function judged(body: unknown): unknown {
  const { kind } = Object(body) as { readonly kind?: string };
  const name = KINDS[kind ?? ''];
  if (name === undefined) throw new Error(`a body of the kind ${kind}`);
  const judge = judges.get(name) ?? ajv.compile({ $ref: `#/definitions/${name}`, definitions });
  judges.set(name, judge);
  if (!judge(body))
    throw new Error(`this is no ${kind}: ${ajv.errorsText(judge.errors)}\n${JSON.stringify(body)}`);
  return body;
}
