/**
 * `roles` of jobs: projects with Ansible roles.
 *
 *     roles:
 *       - zuul: acme/roles            every role below roles/, or the repository itself is the role `roles`
 *       - zuul: acme/ansible-role-java
 *         name: java                  what playbooks call it, where the repository itself is the role
 */
import type { MappingReader } from '../reading/mapping-reader.ts';
import { mappingReader } from '../reading/mapping-reader.ts';
import type { ParseContext } from '../reading/parse-context.ts';
import type { YamlMapping } from '../yaml/yaml-node.ts';
import type { RoleEntry } from './stanzas.ts';

/** Roles of Ansible Galaxy are left out, with a warning: Zuul takes the attribute and installs none. */
export function parseRoles(
  read: MappingReader,
  subject: string,
  context: ParseContext,
): readonly RoleEntry[] | undefined {
  return read.list('roles')?.flatMap(node => {
    if (node.kind === 'mapping') return parseRole(node, `a role of ${subject}`, context);
    const text = `roles of ${subject} must be mappings, such as {zuul: project}`;
    context.problem({ offset: node.offset, code: 'wrong-type', text });
    return [];
  });
}

function parseRole(node: YamlMapping, subject: string, context: ParseContext): readonly RoleEntry[] {
  const read = mappingReader(node, subject, context);
  const project = read.string('zuul');
  const galaxy = read.string('galaxy');
  const name = read.string('name');
  read.finish();
  if (project !== undefined && galaxy !== undefined) {
    const text = `${subject} has both zuul and galaxy; keep one`;
    read.refuse(read.offsetOf('galaxy'), 'wrong-type', text);
    return [];
  }
  if (galaxy !== undefined) {
    const text = `role ${galaxy} of Ansible Galaxy is not installed, which has no effect here as in Zuul; keep the role in a project and name that with zuul`;
    context.problem({ offset: read.offsetOf('galaxy'), code: 'no-effect', text, severity: 'warning' });
    return [];
  }
  if (project === undefined) {
    // Another key was refused already, and may be meant.
    if ([...node.entries.keys()].every(key => key === 'name'))
      context.problem({
        offset: node.offset,
        code: 'missing-key',
        text: `${subject} needs "zuul", the project with the roles`,
      });
    return [];
  }
  const role = name ?? project.split('/').at(-1) ?? project;
  if (isRoleName(role)) return [{ name: project, offset: read.offsetOf('zuul'), role }];
  const text = `"${role}" is not usable as the name of a role; use one without / that is not . or ..`;
  read.refuse(read.offsetOf(name === undefined ? 'zuul' : 'name'), 'invalid-name', text);
  return [];
}

/** It becomes the name of a file. */
function isRoleName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !/[/\0]/.test(name) && name.length <= 200;
}
