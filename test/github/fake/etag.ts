import { createHash } from 'node:crypto';

/** Weak, as GitHub's are. */
export function etagOf(value: unknown): string {
  return `W/"${createHash('sha256').update(JSON.stringify(value)).digest('hex')}"`;
}
