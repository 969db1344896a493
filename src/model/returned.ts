/**
 * What a build returned: data for the jobs that depend on it, artifacts, and where its logs are, as with Zuul's `zuul_return`.
 *
 *     {"zuul": {"log_url": "https://logs.example.org/1/", "artifacts": [{"name": "image", "url": "image.tar"}]}, "version": "1.2"}
 *     → logUrl, artifacts [{name: 'image', url: 'https://logs.example.org/1/image.tar'}], data {version: '1.2'}
 */
import type { Uuid } from '../lib/ids.ts';
import type { Variables } from './job.ts';
import type { JobName } from './project.ts';

/** Something that a build made and left somewhere. */
export interface Artifact {
  readonly name: string;
  /** Whole where the build gave a `log_url` or wrote a whole one. */
  readonly url: string;
  /** Absent: none. */
  readonly metadata?: Variables;
}

/** As a member of `zuul.artifacts`, where more is said of it. */
export function artifactVariables({ name, url, metadata }: Artifact): Variables {
  return { name, url, ...(metadata === undefined ? {} : { metadata }) };
}

/** A remark about a line of a file of the build's change. */
export interface ReturnedComment {
  /** Path in the repository. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly level: 'info' | 'warning' | 'error';
  readonly message: string;
  readonly range?: CommentRange;
}

/** Lines from 1, characters from 0; the last character is not part of it. */
export interface CommentRange {
  readonly startLine: number;
  readonly startCharacter: number;
  readonly endLine: number;
  readonly endCharacter: number;
}

/** Part of the record `queue-item`. A member that is absent was not returned. */
export interface Returned {
  /** `zuul.log_url`: an address of http or https. */
  readonly logUrl?: string;
  /** In the order in which they were returned. */
  readonly artifacts?: readonly Artifact[];
  /** For jobs that depend on this one; without `zuul`. */
  readonly data?: Variables;
  /** `secret_data`, JSON sealed with the master key of the keystore for this build alone. */
  readonly sealed?: string;
  /** `zuul.child_jobs`: of the jobs that depend on this one directly, those that run. Absent: all. */
  readonly childJobs?: readonly JobName[];
  /** `zuul.file_comments`, with the lines of the change as it was proposed. */
  readonly fileComments?: readonly ReturnedComment[];
  /** For people: `zuul.warnings`, and what of the above could not be kept. */
  readonly warnings?: readonly string[];
}

/** Secret data of a job for one that depends on it. */
export interface SealedData {
  /** That returned it. */
  readonly build: Uuid;
  readonly sealed: string;
}

/** Characters of JSON that the builds of one buildset may return together: they are stored with the item. */
export const RETURNED_PER_BUILDSET = 200_000;

/** What of it stays when the item has left: no secret, not even sealed. */
export function publicPart({ sealed: _, ...returned }: Returned): Returned {
  return returned;
}
