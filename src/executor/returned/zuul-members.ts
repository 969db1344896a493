/**
 * What Zuul defines of the data that a build returns: the members of `zuul`, each as the jobs of Zuul write it. Pure.
 *
 * A member that cannot be used is left out, with a warning that never quotes it: it may be secret.
 */
import type { Json, Variables } from '../../model/job.ts';
import { isVariables } from '../../model/merge-vars.ts';
import type { Artifact, Returned } from '../../model/returned.ts';
import { fileCommentsOf } from './file-comments.ts';

/** What the build wants of its executor. */
export interface ReturnedOrders {
  /** `zuul.pause: true`: it waits after its run for those that depend on it. */
  readonly pause: boolean;
  /** Without `zuul.disable_file_comment_line_mapping`: lines of comments are those of what was tested. */
  readonly mapLines: boolean;
  /** `zuul.retry: false`: a pre-run that failed is a failure of the build. */
  readonly retry: boolean;
}

const LONGEST_WARNING = 500;

/** What a build that returned nothing wants. */
export const NO_ORDERS: ReturnedOrders = { pause: false, mapLines: true, retry: true };

/** For the result of the build. @param children jobs that depend on it directly; undefined: they are not known. */
export function storedMembers(
  own: Variables,
  children: readonly string[] | undefined,
  warnings: string[],
): Pick<Returned, 'logUrl' | 'artifacts' | 'childJobs' | 'fileComments'> {
  const fileComments = fileCommentsOf(own, warnings);
  return {
    ...logUrlOf(own, warnings),
    ...artifactsOf(own, warnings),
    ...childJobsOf(own, children, warnings),
    ...(fileComments.length === 0 ? {} : { fileComments }),
  };
}

/** For the executor. */
export function ordersOf(own: Variables, warnings: string[]): ReturnedOrders {
  const { pause, retry, disable_file_comment_line_mapping: unmapped } = own;
  for (const [name, value] of Object.entries({ pause, retry }))
    if (value !== undefined && typeof value !== 'boolean')
      warnings.push(`zuul.${name} is neither true nor false; it is ignored`);
  return { pause: pause === true, mapLines: unmapped !== true, retry: retry !== false };
}

/** What the job itself wants to be said. */
export function warningsOf({ warnings }: Variables): readonly string[] {
  if (!Array.isArray(warnings)) return [];
  return warnings.filter(each => typeof each === 'string').map(each => each.slice(0, LONGEST_WARNING));
}

function logUrlOf({ log_url: url }: Variables, warnings: string[]): Pick<Returned, 'logUrl'> {
  if (url === undefined || url === null) return {};
  if (typeof url === 'string' && isWebAddress(url)) return { logUrl: url };
  warnings.push('zuul.log_url is not an address of http or https; it is ignored');
  return {};
}

/** As in Zuul all of them are left out where one is unusable. */
function artifactsOf(
  { artifacts = [], log_url: logUrl }: Variables,
  warnings: string[],
): Pick<Returned, 'artifacts'> {
  const base = typeof logUrl === 'string' && isWebAddress(logUrl) ? withSlash(logUrl) : undefined;
  const found = Array.isArray(artifacts) ? artifacts.map(each => artifactOf(each, base)) : [undefined];
  const whole = found.filter(each => each !== undefined);
  if (whole.length < found.length) {
    warnings.push(
      'zuul.artifacts is not a list of objects with name, url and perhaps metadata; it is ignored',
    );
    return {};
  }
  return whole.length === 0 ? {} : { artifacts: whole };
}

function artifactOf(value: Json, base: string | undefined): Artifact | undefined {
  if (!isVariables(value)) return undefined;
  const { name, url, metadata } = value;
  if (typeof name !== 'string' || typeof url !== 'string') return undefined;
  if (metadata !== undefined && !isVariables(metadata)) return undefined;
  const whole = base === undefined ? url : (URL.parse(url, base)?.href ?? url);
  return { name, url: whole, ...(metadata === undefined ? {} : { metadata }) };
}

/** As in Zuul other names are ignored: a list of nothing else leaves all children out. */
function childJobsOf(
  { child_jobs: listed }: Variables,
  children: readonly string[] | undefined,
  warnings: string[],
): Pick<Returned, 'childJobs'> {
  if (listed === undefined || listed === null) return {};
  if (!Array.isArray(listed) || !listed.every(each => typeof each === 'string')) {
    warnings.push('zuul.child_jobs is not a list of names; it is ignored');
    return {};
  }
  const names = [...new Set(listed)];
  const childJobs = children === undefined ? names : names.filter(name => children.includes(name));
  const unknown = names.length - childJobs.length;
  if (unknown > 0) {
    const which = unknown === 1 ? 'a name' : `${unknown} names`;
    warnings.push(`zuul.child_jobs has ${which} of no job that depends directly on this one; ignored`);
  }
  return { childJobs };
}

function withSlash(url: string): string {
  return url.endsWith('/') ? url : `${url}/`;
}

function isWebAddress(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && (url.protocol === 'http:' || url.protocol === 'https:');
}
