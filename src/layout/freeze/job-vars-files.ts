import type { JobVarsFile } from '../../model/job.ts';
import type { LayoutFile } from '../model/layout.ts';
import type { IncludeVarsEntry, JobAttributes } from '../stanzas/stanzas.ts';
import type { ProjectResolver } from '../tenant/resolve-project.ts';

/** The files with variables after one more definition: what it names comes after those that were there, each once, as in Zuul. */
export function withVarsFiles(
  before: readonly JobVarsFile[],
  { includeVars = [] }: JobAttributes,
  file: LayoutFile,
  resolve: ProjectResolver,
): readonly JobVarsFile[] {
  const all = new Map(before.map(each => [JSON.stringify(each), each]));
  for (const entry of includeVars) {
    const found = varsFile(entry, file, resolve);
    if (found !== undefined && !all.has(JSON.stringify(found))) all.set(JSON.stringify(found), found);
  }
  return [...all.values()];
}

/** Undefined: an unknown project, which broke the definition when the layout was built. */
function varsFile(
  { path, of, required, useRef }: IncludeVarsEntry,
  file: LayoutFile,
  resolve: ProjectResolver,
): JobVarsFile | undefined {
  const more = {
    path,
    ...(required ? {} : { optional: true as const }),
    ...(useRef ? {} : { branchOnly: true as const }),
  };
  if (of === 'change') return more;
  if (of === 'file') return { project: file.project, ...more };
  const resolved = resolve(of.name);
  return resolved.kind === 'unknown' ? undefined : { project: resolved.project, ...more };
}
