/**
 * How much of what is new is taken in at once. What comes of one look is stored in one write of bounded size, and a
 * `git push --mirror` may bring thousands of refs: then a part of them is taken as if it had been pushed alone, branches first,
 * and the next look finds the rest.
 */
import { parseRefName, type RefName } from '../../src/git/ref-name.ts';
import { type Refs, readRefs, type Templates } from './ref-view.ts';

/** Refs that may differ between two looks. Each can mean an event, a change record and a trace. */
const MOST_AT_ONCE = 100;
/** Refs that are remembered; about 40 bytes each. */
const MOST_REFS = 12_000;

/**
 * @param before undefined at the first look, where branches and tags are no news.
 * @returns `now`, or something on the way there.
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
  const rankOf = ranking(templates);
  const next = new Map(start);
  for (const ref of changed.toSorted((a, b) => rankOf(a) - rankOf(b) || (a < b ? -1 : 1)).slice(0, most)) {
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

/** Branches before what is proposed for them, proposals before their approvals. */
function ranking({ proposals, approvals }: Templates): (ref: RefName) => number {
  return ref => {
    if (!ref.startsWith('refs/heads/')) return 1;
    const name = ref.slice('refs/heads/'.length);
    if (proposals.match(name) !== undefined) return 2;
    return approvals.match(name) === undefined ? 0 : 3;
  };
}

/** The refs that are watched: all, or without tags where there are too many. Undefined: too many even so. */
export function watchedRefs(refs: Refs, most = MOST_REFS): Refs | undefined {
  if (refs.size <= most) return refs;
  const heads = new Map([...refs].filter(([ref]) => ref.startsWith('refs/heads/')));
  return heads.size <= most ? heads : undefined;
}
