/** What a build returned, from its file to its result; and the secret data that the builds it depends on returned. */
import type { BuildRequest } from '../../model/build-request.ts';
import type { FrozenJob, Json, Variables } from '../../model/job.ts';
import { mergeVars } from '../../model/merge-vars.ts';
import type { Returned } from '../../model/returned.ts';
import type { Repositories } from '../deps.ts';
import type { OpenedSecrets } from '../playbook-secrets.ts';
import type { Runner, RunnerBuild } from '../runner.ts';
import type { DataSeal } from './data-seal.ts';
import { mappedComments } from './file-comments.ts';
import { type ParsedReturn, parseReturned } from './parse-returned.ts';
import { NO_ORDERS } from './zuul-members.ts';

type Returning = Pick<RunnerBuild, 'request' | 'places' | 'masks'> & {
  readonly runner: Pick<Runner, 'returned'>;
};

/** So far. From now on its secret data is masked in what the build leaves behind. Never rejects. */
export async function noteReturned(context: Returning): Promise<ParsedReturn> {
  const parsed = await parsedOf(context);
  context.masks.add(textsIn(parsed.secret));
  return parsed;
}

async function parsedOf({ runner, places, request }: Returning): Promise<ParsedReturn> {
  try {
    const read = await runner.returned(places);
    return read.kind === 'text'
      ? parseReturned(read.text, childrenOf(request))
      : unread('it is longer than 256 KiB');
  } catch (error) {
    return unread(error instanceof Error ? error.message : String(error));
  }
}

function unread(reason: string): ParsedReturn {
  const warnings = [`what was returned could not be read: ${reason}`];
  return { returned: { warnings }, secret: {}, orders: NO_ORDERS };
}

/** Undefined: the scheduler that requested it is older and did not say. */
function childrenOf({ zuul: { child_jobs: names } }: BuildRequest): readonly string[] | undefined {
  return Array.isArray(names) ? names.filter(name => typeof name === 'string') : undefined;
}

/** All of it so far, as it is stored with the build. @returns undefined: nothing was returned. */
export async function finalReturned(
  context: Returning & { readonly deps: { readonly repositories: Pick<Repositories, 'fileLines'> } },
  seal: DataSeal | undefined,
): Promise<Returned | undefined> {
  const { returned, secret, orders } = await noteReturned(context);
  const { fileComments = [] } = returned;
  const moved =
    fileComments.length > 0 && orders.mapLines
      ? { fileComments: await mappedComments(fileComments, context.request, context.deps.repositories) }
      : {};
  const shown = context.masks.mask({ ...returned, ...moved });
  const all =
    Object.keys(secret).length === 0 ? shown : { ...shown, ...sealed(context, secret, shown, seal) };
  return Object.keys(all).length === 0 ? undefined : all;
}

function sealed(
  { request }: Returning,
  secret: Variables,
  { warnings = [] }: Returned,
  seal: DataSeal | undefined,
): Returned {
  if (seal !== undefined) return { sealed: seal.sealData(request.uuid, JSON.stringify(secret)) };
  const words = 'the returned secret data is not kept: this executor has no [keystore] password';
  return { warnings: [...warnings, words] };
}

/**
 * Secret data for a job, from those it depends on. Unlike other data the first one counts, as in Zuul, and any variable of the job, or other data, wins.
 *
 * @returns `values` undefined: none.
 */
export function openReturned(
  { sealedData = [], parentData = {}, job }: Pick<BuildRequest, 'sealedData' | 'parentData' | 'job'>,
  seal: DataSeal | undefined,
  masks: RunnerBuild['masks'],
): OpenedSecrets {
  if (sealedData.length === 0) return { kind: 'opened', values: undefined };
  let all: Variables = {};
  for (const { build, sealed } of sealedData) {
    const text = seal?.openData(build, sealed);
    if (text === undefined)
      return {
        kind: 'unavailable',
        reason: `secret data that build ${build} returned cannot be opened here`,
      };
    all = mergeVars(JSON.parse(text), all);
  }
  masks.add(textsIn(all));
  const taken = new Set([...Object.keys(parentData), ...namesOf(job)]);
  return {
    kind: 'opened',
    values: Object.fromEntries(Object.entries(all).filter(([name]) => !taken.has(name))),
  };
}

function namesOf({ vars, extraVars = {}, hostVars = {}, groupVars = {} }: FrozenJob): ReadonlySet<string> {
  const all = [vars, extraVars, ...Object.values(hostVars), ...Object.values(groupVars)];
  return new Set(all.flatMap(each => Object.keys(each)));
}

function textsIn(value: Json): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value === 'number') return [String(value)];
  if (value === null || typeof value !== 'object') return [];
  return Object.values(value).flatMap(textsIn);
}
