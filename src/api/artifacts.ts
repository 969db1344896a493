/** What builds returned as artifacts, and the one that Zuul's page needs of each build: the list of its files. */
import type { BuildFacts } from '../history/build-facts.ts';
import type { Artifact } from '../model/returned.ts';
import { document, json, optional, text } from './schema.ts';

/** One artifact, as Zuul has it. */
export const artifactSchema = document({ name: text(), url: text(), metadata: optional(json()) });

/** Address of a build's log; builds that never ran have none. */
export type LogUrl = (tenant: string, build: string) => string;

const MANIFEST = 'zuul_manifest';

/**
 * Zuul's page finds logs by a list of files, which Zuul's base job returns as an artifact. Where a job returned one, or has its logs
 * elsewhere, that counts.
 */
export function withManifest(
  { uuid, buildset, ...build }: BuildFacts,
  returned: readonly Artifact[],
  logUrl: LogUrl,
): Artifact[] {
  const isElsewhere = build.log_url !== null || build.start_time === null || build.end_time === null;
  if (isElsewhere || returned.some(isManifest)) return [...returned];
  const url = `${logUrl(buildset.tenant, uuid)}zuul-manifest.json`;
  return [...returned, { name: 'Zuul Manifest', url, metadata: { type: MANIFEST } }];
}

function isManifest({ metadata }: Artifact): boolean {
  return (
    typeof metadata === 'object' && metadata !== null && 'type' in metadata && metadata.type === MANIFEST
  );
}
