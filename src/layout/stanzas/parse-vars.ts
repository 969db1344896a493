/** Variables: `vars` of a job or a project, `extra-vars` of a job, and `host-vars` and `group-vars`, which hold some for each name. */
import type { Variables } from '../../model/job.ts';
import { reservedVariable } from '../../model/reserved-variables.ts';
import { type MappingReader, mappingReader } from '../reading/mapping-reader.ts';
import type { ParseContext } from '../reading/parse-context.ts';
import { jsonOf, type YamlMapping, type YamlNode } from '../yaml/yaml-node.ts';

/** Refuses names that Gatehouse or Ansible uses itself, and invalid ones. */
export function parseVars(
  read: MappingReader,
  context: ParseContext,
  key: 'vars' | 'extra-vars' = 'vars',
): Variables | undefined {
  const vars = read.mapping(key);
  return vars === undefined ? undefined : variablesIn(vars, read, context);
}

/** Nodes or groups by name, each with its variables. Names that no nodeset has do nothing, as in Zuul. */
export function parseNamedVars(
  read: MappingReader,
  key: 'host-vars' | 'group-vars',
  subject: string,
  context: ParseContext,
): { readonly [name: string]: Variables } | undefined {
  const names = read.mapping(key);
  if (names === undefined) return undefined;
  const one = mappingReader(names, `${key} of ${subject}`, context);
  return Object.fromEntries(
    [...names.entries.keys()].flatMap(name => {
      const vars = one.mapping(name);
      return vars === undefined ? [] : [[name, variablesIn(vars, one, context)]];
    }),
  );
}

function variablesIn(vars: YamlMapping, read: MappingReader, context: ParseContext): Variables {
  for (const [name, { keyOffset }] of vars.entries) {
    const reserved = reservedVariable(name);
    if (reserved !== undefined) {
      read.refuse(keyOffset, 'reserved-name', `variable "${name}" ${reserved}; choose another name`);
    } else if (!/^[A-Za-z_]\w*$/.test(name)) {
      read.refuse(
        keyOffset,
        'invalid-name',
        `"${name}" is not a valid variable name; use letters, digits and _`,
      );
    }
  }
  warnOfOldBooleans(vars, context);
  return Object.fromEntries([...vars.entries].map(([name, { value }]) => [name, jsonOf(value)]));
}

/** Booleans of YAML 1.1, which Zuul reads; strings in YAML 1.2. */
const OLD_BOOLEANS = /^(yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF)$/;

/** Elsewhere a wrong type is an error; a variable may be of any type. */
function warnOfOldBooleans(node: YamlNode, context: ParseContext): void {
  switch (node.kind) {
    case 'encrypted':
      break;
    case 'sequence':
      for (const element of node.elements) warnOfOldBooleans(element, context);
      break;
    case 'mapping':
      for (const { value } of node.entries.values()) warnOfOldBooleans(value, context);
      break;
    case 'scalar': {
      if (!node.plain || !OLD_BOOLEANS.test(node.text)) return;
      const text = `${node.text} is a string in YAML 1.2, not a boolean; write true or false, or quote it`;
      context.problem({ offset: node.offset, code: 'old-boolean', text, severity: 'warning' });
    }
  }
}
