import type { ConfigError } from '../../model/config-error.ts';
import { projectIdOf } from '../../model/project.ts';
import type { LayoutFile } from './layout.ts';

/**
 * Turns a place in a parsed file into an error that names project, branch, file, line and column.
 *
 * @param offset in UTF-16 units.
 */
export function errorAt(
  file: LayoutFile,
  offset: number,
  code: string,
  text: string,
  severity: ConfigError['severity'] = 'error',
): ConfigError {
  const { line, column } = file.parsed.positionOf(offset);
  return { severity, project: file.project, branch: file.branch, file: file.path, line, column, code, text };
}

/** `acme/app@master:.zuul.yaml:4`, for people and for `definedAt`. */
export function placeText(file: LayoutFile, offset: number): string {
  const { line } = file.parsed.positionOf(offset);
  return `${projectIdOf(file.project).name}@${file.branch}:${file.path}:${line}`;
}
