/** Something wrong in a configuration file, addressed to the person who can fix it. */
import type { BranchName, ProjectKey } from './project.ts';

/** A mistake with its place. Made by `src/layout/`. */
export interface ConfigError {
  readonly severity: 'error' | 'warning';
  /** Absent for the tenant file. */
  readonly project?: ProjectKey;
  readonly branch?: BranchName;
  /** Path in the repository, or of the tenant file. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly column: number;
  /** Short class, e.g. `unknown-key`, `not-supported`, `job-not-defined`. */
  readonly code: string;
  /** What is wrong and what to do, without the place. */
  readonly text: string;
}

/** `acme/app@master:.zuul.yaml:4:3: unknown key "tiemout" ...` */
export function configErrorText(error: ConfigError): string {
  const where =
    error.project === undefined
      ? ''
      : `${error.project}${error.branch === undefined ? '' : `@${error.branch}`}:`;
  return `${where}${error.file}:${error.line}:${error.column}: ${error.text}`;
}
