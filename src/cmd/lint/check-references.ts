/**
 * Names that are used in a repository and defined nowhere in it. Other repositories of the tenant may define them, so a name is only
 * reported when one of this repository is near to it: then it is a slip of the pen.
 *
 * A name that a broken stanza defines counts as defined, and while a file could not be read at all nothing is reported: what is missing
 * may stand there, and the mistake is the file's.
 */

import type { PlacedName } from '../../layout/reading/mapping-reader.ts';
import type {
  JobAttributes,
  JobStanza,
  ParsedFile,
  ParsedStanza,
  ProjectPipelineEntry,
} from '../../layout/stanzas/stanzas.ts';
import { nearestName } from '../../lib/nearest-name.ts';

/** A finding in one file, before its line is known. */
export interface NameFinding {
  readonly file: ParsedFile;
  readonly offset: number;
  readonly code: string;
  readonly text: string;
}

type Kind = 'job' | 'nodeset' | 'project-template' | 'secret' | 'semaphore' | 'queue' | 'pipeline';

interface Use extends PlacedName {
  readonly kind: Kind;
}

/** @param files all of the repository that could be read. */
export function checkReferences(files: readonly ParsedFile[]): readonly NameFinding[] {
  const defined = new Map<Kind, Set<string>>();
  for (const stanza of files.flatMap(file => file.stanzas)) define(stanza, defined);
  return files.flatMap(file =>
    file.stanzas.flatMap(usesOf).flatMap(({ kind, name, offset }) => {
      const known = defined.get(kind) ?? new Set<string>();
      const near = known.has(name) ? undefined : nearestName(name, known);
      if (near === undefined) return [];
      const text = `${kind} ${name} is not defined in this repository, did you mean "${near}"?`;
      return [{ file, offset, code: `unknown-${kind}`, text }];
    }),
  );
}

function define(stanza: ParsedStanza, defined: Map<Kind, Set<string>>): void {
  const kind = stanza.kind === 'broken' ? stanza.of : stanza.kind;
  const { name } = 'name' in stanza ? stanza : { name: undefined };
  if (!isKind(kind) || name === undefined) return;
  defined.set(kind, (defined.get(kind) ?? new Set<string>()).add(name));
}

const KINDS: readonly string[] = [
  'job',
  'nodeset',
  'project-template',
  'secret',
  'semaphore',
  'queue',
  'pipeline',
] satisfies readonly Kind[];

function isKind(kind: string): kind is Kind {
  return KINDS.includes(kind);
}

function usesOf(stanza: ParsedStanza): readonly Use[] {
  switch (stanza.kind) {
    case 'job':
      return [
        ...(stanza.parent === undefined || stanza.parent === null
          ? []
          : [{ ...stanza.parent, kind: 'job' as const }]),
        ...usesOfAttributes(stanza),
      ];
    case 'project':
      return [
        ...stanza.templates.map(each => ({ ...each, kind: 'project-template' as const })),
        ...usesOfProject(stanza),
      ];
    case 'project-template':
      return usesOfProject(stanza);
    default:
      return [];
  }
}

function usesOfProject(stanza: {
  readonly queue: PlacedName | undefined;
  readonly pipelines: readonly ProjectPipelineEntry[];
}): readonly Use[] {
  return [
    ...(stanza.queue === undefined ? [] : [{ ...stanza.queue, kind: 'queue' as const }]),
    ...stanza.pipelines.flatMap(({ pipeline, jobs }) => [
      { ...pipeline, kind: 'pipeline' as const },
      ...jobs.flatMap(job => [
        { name: job.name, offset: job.offset, kind: 'job' as const },
        ...usesOfAttributes(job),
      ]),
    ]),
  ];
}

function usesOfAttributes({
  attributes,
  offsets,
}: Pick<JobStanza, 'attributes' | 'offsets'>): readonly Use[] {
  const { nodeset, secrets = [], semaphores = [], dependencies = [] }: JobAttributes = attributes;
  const at = offsets.get('semaphores') ?? offsets.get('semaphore') ?? 0;
  return [
    ...(nodeset?.kind === 'named' ? [{ ...nodeset, kind: 'nodeset' as const }] : []),
    ...secrets.map(({ name, offset }) => ({ name, offset, kind: 'secret' as const })),
    ...semaphores.map(({ name }) => ({ name, offset: at, kind: 'semaphore' as const })),
    ...dependencies.map(({ name, offset }) => ({ name, offset, kind: 'job' as const })),
  ];
}
