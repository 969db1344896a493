/**
 * Bounds how many changed refs are taken in with one event. The result of one event is stored in one write of bounded size, and
 * a `git push --mirror` may bring thousands of refs: then a part of them is taken as if it had been pushed alone, and another
 * event, stored with the first, takes the rest.
 *
 * Branches come first, then tags, then topics: proposal and approval of one topic together, and topics with an approval before
 * the others. Approved proposals do not wait behind unapproved ones.
 */
import { parseRefName, type RefName } from '../../src/git/objects/ref-name.ts';
import { changeId, type Refs, readRefs, type Templates } from './ref-view.ts';

/** Most refs that may differ between two readings, at least 2. Each can mean an event, a change record and a trace. */
const MOST_AT_ONCE = 100;
/** Most refs that are remembered; about 40 bytes each. */
const MOST_REFS = 12_000;

/**
 * @param before undefined at the first reading, where existing branches and tags are no change.
 * @returns `now`, or a state between `before` and `now`.
 */
export function nextRefs(
  before: Refs | undefined,
  now: Refs,
  templates: Templates,
  most = MOST_AT_ONCE,
): Refs {
  const start = before ?? withoutProposals(now, templates);
  const changed = [...new Set([...start.keys(), ...now.keys()])].filter(
    ref => start.get(ref) !== now.get(ref),
  );
  if (changed.length <= most) return now;
  const next = new Map(start);
  for (const ref of firstOf(changed, templates, most)) {
    const commit = now.get(ref);
    if (commit === undefined) next.delete(ref);
    else next.set(ref, commit);
  }
  return next;
}

function withoutProposals(refs: Refs, templates: Templates): Refs {
  const { branches, tags } = readRefs(refs, templates);
  return new Map([
    ...[...branches].map(([name, commit]) => [parseRefName(`refs/heads/${name}`), commit] as const),
    ...tags,
  ]);
}

/** Refs that are taken together: one branch or tag, or proposal and approval of one topic. */
interface Group {
  readonly rank: number;
  readonly name: string;
  readonly refs: RefName[];
}

function firstOf(changed: readonly RefName[], templates: Templates, most: number): readonly RefName[] {
  const groups = new Map<string, Group>();
  for (const ref of changed) {
    const { rank, name } = placeOf(ref, templates);
    const { rank: known = rank, refs = [] } = groups.get(name) ?? {};
    refs.push(ref);
    groups.set(name, { rank: Math.min(rank, known), name, refs });
  }
  const inOrder = [...groups.values()].toSorted((a, b) => a.rank - b.rank || (a.name < b.name ? -1 : 1));
  const taken: RefName[] = [];
  for (const { refs } of inOrder) {
    if (taken.length + refs.length > most) break;
    taken.push(...refs);
  }
  return taken;
}

/** The rank of a ref; refs of equal `name` are one group. */
function placeOf(ref: RefName, { proposals, approvals }: Templates): Pick<Group, 'rank' | 'name'> {
  if (!ref.startsWith('refs/heads/')) return { rank: 1, name: ref };
  const branch = ref.slice('refs/heads/'.length);
  const approval = approvals.match(branch);
  const proposal = approval === undefined ? proposals.match(branch) : undefined;
  const topic = approval ?? proposal;
  if (topic === undefined) return { rank: 0, name: ref };
  // No ref has a blank in its name.
  return { rank: approval === undefined ? 3 : 2, name: `topic ${changeId(topic)}` };
}

/** The refs that are watched: all, or without tags where there are too many. Undefined: too many branches. */
export function watchedRefs(refs: Refs, most = MOST_REFS): Refs | undefined {
  if (refs.size <= most) return refs;
  const heads = new Map([...refs].filter(([ref]) => ref.startsWith('refs/heads/')));
  return heads.size <= most ? heads : undefined;
}
