/**
 * What a build left, below its `log_url`, where Zuul's page and clients look for it:
 *
 *     …/build/<uuid>/logs/                      a page with links
 *     …/build/<uuid>/logs/job-output.txt        the log, from its beginning
 *     …/build/<uuid>/logs/zuul-manifest.json    the list, unless the job left one
 *     …/build/<uuid>/logs/job-output.json      what Ansible's tasks returned; of a build without playbooks for Ansible, no playbooks
 *     …/build/<uuid>/logs/<path>                a file of the job, as its name says (`file-type.ts`), in a sandbox of its own
 */
import { Readable } from 'node:stream';
import type { Router } from 'express';
import type { BuildFacts } from '../../history/build-facts.ts';
import { buildPage, logsOfBuild } from '../../model/page-addresses.ts';
import { type Answer, notFound } from '../answer.ts';
import type { WebDeps } from '../deps.ts';
import { findBuild, inTenant } from '../tenant-access.ts';
import { fileType, SANDBOX } from './file-type.ts';
import { JOB_OUTPUT, listing, MANIFEST, manifestOf, TASKS } from './manifest.ts';

const HEADERS = { 'Content-Security-Policy': SANDBOX, 'Cache-Control': 'private, no-cache' };

/** @param router of a tenant. */
export function addLogFilesRoute(router: Router, deps: WebDeps): void {
  router.get(
    ['/build/:uuid/logs', '/build/:uuid/logs/*path'],
    inTenant(deps, async (tenant, { parameter }) => {
      const build = await findBuild(deps, tenant, parameter('uuid'));
      if (build === undefined) return notFound('there is no such build in the tenant', 'path: build');
      const links = {
        page: buildPage(deps.root(), tenant.name, build.uuid),
        base: logsOfBuild(deps.root(), tenant.name, build.uuid),
      };
      return answerFor(deps, build, parameter('path'), links);
    }),
  );
}

async function answerFor(
  deps: WebDeps,
  build: BuildFacts,
  path: string,
  links: Parameters<typeof listing>[1],
): Promise<Answer> {
  if (path === JOB_OUTPUT) return jobOutput(deps, build);
  const { uuid, worker } = build;
  const kept = await deps.logFiles({ build: uuid, worker });
  const files = kept?.files ?? [];
  const file = files.find(each => each.path === path);
  if (file !== undefined) {
    const content = await deps.openLogFile({ build: uuid, worker, sha256: file.sha256 });
    if (content !== undefined)
      return { kind: 'file', content, type: fileType(path), isGzipped: true, headers: HEADERS };
  }
  if (path === '')
    return {
      kind: 'file',
      content: Readable.from([listing(files, links)]),
      type: 'text/html; charset=utf-8',
      isGzipped: false,
      headers: HEADERS,
    };
  if (path === MANIFEST) return { kind: 'json', body: manifestOf(files) };
  if (path === TASKS && kept !== undefined) return { kind: 'json', body: [] };
  return notFound(`this build left no ${JSON.stringify(path.slice(0, 200))}`, 'path: path');
}

async function jobOutput(deps: WebDeps, { uuid, worker }: BuildFacts): Promise<Answer> {
  const type = 'text/plain; charset=utf-8';
  const whole = await deps.openLog({ build: uuid, worker });
  if (whole !== undefined) return { kind: 'file', content: whole, type, isGzipped: true, headers: HEADERS };
  const read = (offset: number) => deps.readLog({ build: uuid, worker, offset, limit: PIECE });
  const first = await read(0);
  if (first === undefined) return notFound('this build has no log yet', 'path: path');
  async function* pieces(): AsyncGenerator<Uint8Array> {
    let piece = first;
    for (let offset = 0; piece !== undefined && piece.bytes.length > 0; piece = await read(offset)) {
      offset += piece.bytes.length;
      yield piece.bytes;
      if (piece.complete) return;
    }
  }
  return { kind: 'file', content: Readable.from(pieces()), type, isGzipped: false, headers: HEADERS };
}

const PIECE = 262_144;
