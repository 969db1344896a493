/**
 * Variables for Ansible, as data: every text is tagged `!unsafe`, so that nothing in it is ever taken for a template. A branch name,
 * a change's topic and an untrusted project's job variables come from people who must not run code in another project's playbook.
 *
 *     variablesYaml({ zuul: { branch: '{{ x }}' } })   →   {"zuul": {"branch": !unsafe "{{ x }}"}}
 */
import type { Json } from '../../model/job.ts';

/** @returns one line in ASCII, to be read by Ansible only: other YAML readers may refuse the tag. */
export function variablesYaml(value: Json): string {
  if (typeof value === 'string') return `!unsafe ${quoted(value)}`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (isList(value)) return `[${value.map(variablesYaml).join(', ')}]`;
  const entries = Object.entries(value).map(([name, each]) => `${quoted(name)}: ${variablesYaml(each)}`);
  return `{${entries.join(', ')}}`;
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

/** A double-quoted scalar of ASCII: YAML requires non-printable characters to be escaped, and every parser reads escapes. */
function quoted(text: string): string {
  return JSON.stringify(text.toWellFormed()).replace(/[^\u0020-\u007e]/gu, escaped);
}

function escaped(character: string): string {
  return `\\U${(character.codePointAt(0) ?? 0).toString(16).padStart(8, '0')}`;
}
