/** What the entries of `nodes.yaml` share. */
import type { MappingReader } from '../layout/reading/mapping-reader.ts';
import { jsonOf } from '../layout/yaml/yaml-node.ts';
import { isZone, ZONE_ADVICE } from '../lib/zone-name.ts';
import type { Json, Variables } from '../model/job.ts';

/** Whether a host or a provider may be called so: names are parts of paths and words of ssh's configuration. */
export function isNodeName(text: string): boolean {
  return /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$/.test(text);
}

/** Whose executors reach it. */
export function readZone(read: MappingReader): string | undefined {
  const zone = read.string('executor-zone');
  if (zone === undefined || isZone(zone)) return zone;
  const text = `"${zone}" cannot be a zone; ${ZONE_ADVICE}`;
  read.refuse(read.offsetOf('executor-zone'), 'invalid-name', text);
  return undefined;
}

/** Of the connection, so `ansible_…` is allowed here: the file is an operator's. */
export function readVariables(read: MappingReader): Variables | undefined {
  const node = read.mapping('variables');
  if (node === undefined) return undefined;
  const value: Json = jsonOf(node);
  return value !== null && typeof value === 'object' && !Array.isArray(value)
    ? { ...Object.fromEntries(Object.entries(value)) }
    : undefined;
}
