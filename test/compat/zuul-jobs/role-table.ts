/** What was found about each role, from the cases that ran it. Pure. */
import type { Case, PlaceName } from './cases.ts';

/** What became of a case at a place. */
export interface Outcome {
  readonly case: Case;
  readonly place: PlaceName;
  readonly kind: 'passed' | 'failed' | 'refused';
  /** Of a case that did not pass. */
  readonly reason: string;
  /** By role: its tasks that ran. */
  readonly tasks: ReadonlyMap<string, number>;
  readonly seconds: number;
}

/** `how`: for people. */
interface Finding {
  readonly kind: 'passed' | 'idle' | 'failed' | 'refused';
  readonly how: string;
}

const RANKS: readonly Finding['kind'][] = ['passed', 'idle', 'failed', 'refused'];

/** Lines of a table of Markdown, and below it how many roles passed. @param places of the comparison. */
export function roleTable(
  roles: readonly string[],
  places: readonly PlaceName[],
  outcomes: readonly Outcome[],
): readonly string[] {
  const rows = roles.map(role => ({
    role,
    found: places.map(place =>
      findingOf(
        role,
        outcomes.filter(each => each.place === place),
      ),
    ),
  }));
  const known = rows.filter(({ found }) => found.some(each => each !== undefined));
  const passed = (index: number) => known.filter(({ found }) => found[index]?.kind === 'passed').length;
  return [
    `| role | ${places.join(' | ')} |`,
    `|---|${places.map(() => '---|').join('')}`,
    ...known.map(({ role, found }) => `| ${role} | ${found.map(each => cellOf(each)).join(' | ')} |`),
    ...places.map((place, index) => `${place}: ${passed(index)} of ${roles.length} roles passed`),
  ];
}

/** The best of what its cases say. Undefined: none of them ran. */
function findingOf(role: string, outcomes: readonly Outcome[]): Finding | undefined {
  const findings = outcomes.flatMap(each => findingIn(role, each) ?? []);
  return findings.toSorted((a, b) => RANKS.indexOf(a.kind) - RANKS.indexOf(b.kind))[0];
}

/** A role passes by a build that passed and in which at least one of its tasks ran: by its own test before others. */
function findingIn(role: string, { case: of, kind, reason, tasks }: Outcome): Finding | undefined {
  const count = tasks.get(role) ?? 0;
  if (kind === 'passed' && count > 0)
    return {
      kind,
      how: of.kind === 'job' ? `passed: ${of.name}` : `passed: ${count} ${count === 1 ? 'task' : 'tasks'}`,
    };
  const isItsOwn = of.name === role || of.name === `zuul-jobs-test-${role}`;
  if (!isItsOwn) return undefined;
  if (kind === 'passed') return { kind: 'idle', how: 'no task of it ran' };
  return { kind, how: `${kind}: ${reason}` };
}

function cellOf(finding: Finding | undefined): string {
  return (finding?.how ?? 'not run').replaceAll('|', '\\|');
}
