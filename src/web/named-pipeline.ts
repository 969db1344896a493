/** The pipeline that a path names, or a 404 that names those there are. */
import type { PipelineSnapshot } from '../api/tenant-snapshot.ts';
import { didYouMean } from '../lib/nearest-name.ts';
import { type HttpRefusal, notFound, type ReadRequest } from './answer.ts';
import type { FoundTenant } from './tenant-access.ts';

/** @param request has the parameter `pipeline`. */
export function pipelineNamed(
  { name: tenant, snapshot }: FoundTenant,
  request: ReadRequest,
): { readonly kind: 'pipeline'; readonly live: PipelineSnapshot } | HttpRefusal {
  const name = request.parameter('pipeline');
  const live = snapshot.pipelines.find(({ pipeline }) => pipeline.name === name);
  if (live !== undefined) return { kind: 'pipeline', live };
  const names = snapshot.pipelines.map(({ pipeline }) => pipeline.name);
  const hint = didYouMean(name, names) || `; it has: ${names.join(', ') || 'none'}`;
  return notFound(
    `tenant ${tenant} has no pipeline ${JSON.stringify(name.slice(0, 64))}${hint}`,
    'path: pipeline',
  );
}
