import type { ObjectId } from '../objects/object-id.ts';

/** The name of a commit in a bundle of ours. */
export function bundledRef(commit: ObjectId): string {
  return `refs/bundled/${commit}`;
}

/**
 * A pack as a file that `git fetch` reads like a remote: so git itself checks the objects and what they lead to, within its limits.
 * Source: git's `gitformat-bundle`, version 2.
 *
 * @param haves commits whose objects the pack leaves out.
 */
export function bundleOf(pack: Buffer, commits: readonly ObjectId[], haves: readonly ObjectId[]): Buffer {
  const lines = [
    '# v2 git bundle',
    ...haves.map(id => `-${id}`),
    ...commits.map(id => `${id} ${bundledRef(id)}`),
    '',
    '',
  ];
  return Buffer.concat([Buffer.from(lines.join('\n')), pack]);
}
