/** Kubernetes' own description of its objects, closed: a field that it does not know is a mistake, as it is to its API server. */
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Ajv } from 'ajv';
import type { KubernetesObject } from './find-helm.ts';

interface Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

interface Definition {
  readonly properties?: object;
  readonly 'x-kubernetes-group-version-kind'?: readonly Kind[];
}

type Definitions = { readonly [name: string]: Definition };

/** @param file `swagger.json`. */
export function readDefinitions(file: string): Definitions {
  const { definitions } = JSON.parse(readFileSync(file, 'utf8')) as { readonly definitions: Definitions };
  return Object.fromEntries(
    Object.entries(definitions).map(([name, definition]) => [name, closed(name, definition)]),
  );
}

function closed(name: string, definition: Definition): Definition {
  // Described as texts, though both may be numbers.
  if (/\.(Quantity|IntOrString)$/.test(name)) return { type: ['string', 'number'] } as Definition;
  return definition.properties === undefined
    ? definition
    : ({ ...definition, additionalProperties: false } as Definition);
}

/** @returns what is wrong with an object; empty: nothing. */
export function createJudge(definitions: Definitions): (object: KubernetesObject) => string {
  const ajv = new Ajv({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: 'kubernetes', definitions });
  return object => {
    const name = nameOf(definitions, object);
    if (name === undefined) return `Kubernetes has no ${object.apiVersion} ${object.kind}`;
    const isValid = ajv.validate({ $ref: `kubernetes#/definitions/${name}` }, object);
    return isValid ? '' : ajv.errorsText(ajv.errors);
  };
}

function nameOf(definitions: Definitions, { apiVersion, kind }: KubernetesObject): string | undefined {
  return Object.entries(definitions).find(([, definition]) =>
    definition['x-kubernetes-group-version-kind']?.some(
      each => each.kind === kind && versionOf(each) === apiVersion,
    ),
  )?.[0];
}

function versionOf({ group, version }: Kind): string {
  return group === '' ? version : `${group}/${version}`;
}

/** As kubeconform looks for them. @returns the option `-schema-location`. */
export async function writeSchemas(definitions: Definitions, directory: string): Promise<string> {
  await writeFile(path.join(directory, 'all.json'), JSON.stringify({ definitions }));
  for (const [name, definition] of Object.entries(definitions))
    for (const each of definition['x-kubernetes-group-version-kind'] ?? []) {
      const group = each.group === '' ? [] : [each.group.split('.')[0]];
      const file = `${[each.kind.toLowerCase(), ...group, each.version].join('-')}.json`;
      await writeFile(path.join(directory, file), JSON.stringify({ $ref: `all.json#/definitions/${name}` }));
    }
  return path.join(directory, '{{ .ResourceKind }}{{ .KindSuffix }}.json');
}
