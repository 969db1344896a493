/**
 * What the driver remembers of a project between two readings: the refs of the last one and the proposals' states. The caller
 * stores it under one key per project and replaces it as a whole, in the commit that stores the events.
 *
 *     { version: 1, sequence: 7, refs: <deflated lines `3f2a… refs/heads/master`>, proposals: { 'master/login': { commit: '…', … } } }
 */

import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { DriverMemory } from '../../src/driver/driver-memory.ts';
import { isMapping } from '../../src/driver/read-mapping.ts';
import { isObjectId, type ObjectId } from '../../src/git/objects/object-id.ts';
import { isRefName, type RefName } from '../../src/git/objects/ref-name.ts';
import { sha256 } from '../../src/lib/ids.ts';
import { RecordError } from '../../src/model/codec/record.ts';
import type { Json } from '../../src/model/job.ts';
import { type ProjectKey, projectIdOf } from '../../src/model/project.ts';
import type { Refs } from './ref-view.ts';

/** A proposal as last reported to the caller: enough for a last record when its branch is deleted. */
export interface KnownProposal {
  readonly commit: ObjectId;
  /** `merged`: the target branch holds it, although the proposal branch still exists. */
  readonly status: 'open' | 'merged';
  readonly approved: boolean;
  readonly subject: string;
  /** Empty: the commit names no author. */
  readonly owner: string;
  /** Digest of the change record: shows whether the record changed. */
  readonly digest: string;
}

/** A project as it was at the last reading that found changes. */
export interface ProjectMemory {
  /** Counts the readings that found changes, so that a state that returns is not taken for its first occurrence. */
  readonly sequence: number;
  readonly refs: Refs;
  /** By change id. */
  readonly proposals: ReadonlyMap<string, KnownProposal>;
}

const VERSION = 1;
const MOST_UNPACKED = 64 * 1024 * 1024;

/** Of the one entry of a project in the driver's memory of its connection. */
export function memoryKey(project: ProjectKey): string {
  return `refs/${projectIdOf(project).name}`;
}

/**
 * Undefined: the project was never read.
 *
 * @throws RecordError `newer` when an upgraded process stored it in a newer form: a first reading must not replace it.
 */
export async function recall(memory: DriverMemory, project: ProjectKey): Promise<ProjectMemory | undefined> {
  return decodeMemory(await memory.get(memoryKey(project)));
}

/** In the form that {@link recall} reads. */
export function encodeMemory({ sequence, refs, proposals }: ProjectMemory): Json {
  return {
    version: VERSION,
    sequence,
    refs: packRefs(refs),
    proposals: Object.fromEntries([...proposals].map(([id, known]) => [id, { ...known }])),
  };
}

/** @returns undefined for a missing or unreadable value: the project counts as never read. @throws RecordError `newer` */
export function decodeMemory(value: Json | undefined): ProjectMemory | undefined {
  if (isMapping(value) && typeof value.version === 'number' && value.version > VERSION)
    throw new RecordError(
      'newer',
      `the memory of a project has version ${value.version}; known is ${VERSION}`,
    );
  if (!isMapping(value) || value.version !== VERSION || typeof value.sequence !== 'number') return undefined;
  const proposals = new Map<string, KnownProposal>();
  for (const [id, entry] of entriesOf(value.proposals)) {
    const known = decodeProposal(entry);
    if (known !== undefined) proposals.set(id, known);
  }
  return { sequence: value.sequence, refs: unpackRefs(value.refs), proposals };
}

/** Store nodes are small: packed, a ref takes 40 bytes instead of 90. */
function packRefs(refs: Refs): string {
  const lines = [...refs].map(([ref, commit]) => `${commit} ${ref}\n`).toSorted();
  return deflateRawSync(lines.join('')).toString('base64');
}

function unpackRefs(packed: Json | undefined): Refs {
  const refs = new Map<RefName, ObjectId>();
  if (typeof packed !== 'string') return refs;
  const text = inflateRawSync(Buffer.from(packed, 'base64'), { maxOutputLength: MOST_UNPACKED }).toString();
  for (const line of text.split('\n')) {
    const [commit = '', ref = ''] = line.split(' ');
    if (isRefName(ref) && isObjectId(commit)) refs.set(ref, commit);
  }
  return refs;
}

function decodeProposal(value: Json): KnownProposal | undefined {
  if (!isMapping(value)) return undefined;
  const { commit, status, approved, subject, owner, digest } = value;
  if (typeof commit !== 'string' || !isObjectId(commit) || typeof digest !== 'string') return undefined;
  return {
    commit,
    digest,
    status: status === 'merged' ? 'merged' : 'open',
    approved: approved === true,
    subject: typeof subject === 'string' ? subject : '',
    owner: typeof owner === 'string' ? owner : '',
  };
}

function entriesOf(value: Json | undefined): [string, Json][] {
  return isMapping(value) ? Object.entries(value) : [];
}

/** 16 hex digits that identify a listing of refs, regardless of its order. */
export function refsDigest(refs: Refs): string {
  return sha256(
    [...refs]
      .map(([ref, commit]) => `${commit} ${ref}\n`)
      .toSorted()
      .join(''),
  ).slice(0, 16);
}

/**
 * Id of the notification that a project's refs are `refs` now: the same in every process that finds it. The sequence of the
 * memory distinguishes a state that returns (pushed, deleted, pushed again) from its first occurrence.
 */
export function refsDeliveryId(project: ProjectKey, before: ProjectMemory | undefined, refs: Refs): string {
  return `refs-${sha256(project).slice(0, 8)}-${before?.sequence ?? 0}-${refsDigest(refs)}`;
}
