/** Asks the code hosts whether they serve what the pipelines want of them, before the first change finds out. */
import type { Connection } from '../../driver/connection.ts';
import type { OnlineFinding, ProjectUse } from '../../driver/online-check.ts';
import type { Layout } from '../../layout/model/layout.ts';
import { projectUses } from '../../layout/project-uses.ts';
import type { ConnectionName, ProjectKey } from '../../model/project.ts';

/** One contradiction, of one connection. */
export interface OnlineProblem {
  readonly severity: OnlineFinding['severity'];
  readonly connection: ConnectionName;
  /** All that have it; empty: it concerns the connection as a whole. */
  readonly projects: readonly ProjectKey[];
  readonly text: string;
}

/** Which connections were asked about how many projects, and what was found: errors first. */
export interface OnlineReport {
  readonly asked: readonly { readonly connection: ConnectionName; readonly projects: number }[];
  readonly problems: readonly OnlineProblem[];
}

/** Asks connections side by side. Those without a check of their own are left out. @throws only the signal's reason. */
export async function checkOnline(
  connections: ReadonlyMap<ConnectionName, Connection>,
  layouts: Iterable<Layout>,
  signal: AbortSignal,
): Promise<OnlineReport> {
  const asked = [...projectUses(layouts)].flatMap(([name, uses]) => {
    const check = connections.get(name)?.checkOnline;
    return check === undefined ? [] : [{ connection: name, uses, check }];
  });
  const problems = await Promise.all(
    asked.map(async ({ connection, uses, check }) =>
      together(connection, await findings(uses, check, signal)),
    ),
  );
  return {
    asked: asked.map(({ connection, uses }) => ({ connection, projects: uses.length })),
    problems: problems.flat().toSorted((a, b) => a.severity.localeCompare(b.severity)),
  };
}

/** An error that the driver did not expect is one more thing that could not be asked. */
async function findings(
  uses: readonly ProjectUse[],
  check: NonNullable<Connection['checkOnline']>,
  signal: AbortSignal,
): Promise<readonly OnlineFinding[]> {
  try {
    return await check(uses, signal);
  } catch (error) {
    signal.throwIfAborted();
    const text = `the host could not be asked: ${error instanceof Error ? error.message : String(error)}`;
    return [{ severity: 'error', project: null, text }];
  }
}

/** Many projects have the same problem for one reason: it is named once. */
function together(connection: ConnectionName, found: readonly OnlineFinding[]): readonly OnlineProblem[] {
  const groups = Map.groupBy(found, ({ severity, text }) => `${severity} ${text}`);
  return [...groups.values()].flatMap(each => {
    const [first] = each;
    if (first === undefined) return [];
    const { severity, text } = first;
    return [{ severity, connection, projects: each.flatMap(({ project }) => project ?? []), text }];
  });
}

/** Projects named in one line. */
const MOST_NAMED = 5;

/** `github/acme/app, github/acme/library: branch main requires …` */
export function onlineProblemText({ connection, projects, text }: OnlineProblem): string {
  if (projects.length === 0) return `${connection}: ${text}`;
  const more = projects.length - MOST_NAMED;
  return `${projects.slice(0, MOST_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}: ${text}`;
}
