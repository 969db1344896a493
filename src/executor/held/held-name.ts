/** Where workspaces of failed builds are held: `<job_dir>/.held/<request>-<build uuid>`, with `work` and `home` as the job left them. */
import { join } from 'node:path';
import { isUuid, type Uuid } from '../../lib/ids.ts';

/** Below `job_dir`; for the service's user alone. */
export const HELD = '.held';

/** Whose workspace it is, and for which request it is held. */
export interface HeldName {
  /** As children of `paths.holds` are called. */
  readonly request: string;
  readonly build: Uuid;
}

export function heldPlace(jobDir: string, { request, build }: HeldName): string {
  return join(jobDir, HELD, `${request}-${build}`);
}

/** @returns undefined: it is none of ours. */
export function parseHeldName(name: string): HeldName | undefined {
  const [, request, build] = /^(.+)-([^-]+)$/s.exec(name) ?? [];
  return request === undefined || build === undefined || !isUuid(build) ? undefined : { request, build };
}
