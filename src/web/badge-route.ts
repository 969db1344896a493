/** `/badge?project=&pipeline=&branch=`: whether the last finished buildset passed, as a picture for a README. */
import type { Router } from 'express';
import { QUERIES } from '../api/queries.ts';
import { notFound, send } from './answer.ts';
import type { WebDeps } from './deps.ts';
import { readQuery } from './query.ts';

/** @param router of a tenant. The picture may be kept by caches, which have to ask each time whether it is current. */
export function addBadgeRoute(router: Router, deps: Pick<WebDeps, 'snapshot' | 'history'>): void {
  router.get<'/badge', { readonly tenant: string }>('/badge', async (request, response) => {
    const { tenant } = request.params;
    if (deps.snapshot(tenant) === undefined)
      return send(response, notFound('there is no such tenant', 'path: tenant'));
    const query = readQuery(new URL(request.originalUrl, 'http://local').searchParams, QUERIES.badge);
    if (query.kind === 'refused') return send(response, query);
    const { project, pipeline, branch } = query.values;
    const [buildset] = await deps.history.buildsets({
      tenant,
      complete: true,
      limit: 1,
      ...(project === undefined ? {} : { project }),
      ...(pipeline === undefined ? {} : { pipeline }),
      ...(branch === undefined ? {} : { branch }),
    });
    if (buildset === undefined) return send(response, notFound('no buildset has finished yet', 'query'));
    if (response.locals.isPrivate !== true) response.setHeader('Cache-Control', 'no-cache');
    response.type('image/svg+xml').send(badge(buildset.result === 'SUCCESS'));
  });
}

function badge(passing: boolean): string {
  const [word, colour] = passing ? ['passing', '#2e7d4f'] : ['failing', '#b8402f'];
  return `<svg xmlns="http://www.w3.org/2000/svg" width="112" height="20" role="img" aria-label="gate: ${word}">
<title>gate: ${word}</title><rect width="112" height="20" rx="4" fill="#3d444b"/><path d="M50 0h58a4 4 0 0 1 4 4v12a4 4 0 0 1-4 4H50z" fill="${colour}"/>
<g fill="#fff" font-family="sans-serif" font-size="11" text-anchor="middle"><text x="25" y="14">gate</text><text x="81" y="14">${word}</text></g></svg>`;
}
