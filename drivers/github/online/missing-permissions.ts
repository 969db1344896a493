/** Which permissions pipelines need in a repository, and the connection lacks. Pure. */
import type { OnlineFinding, ProjectUse } from '../../../src/driver/online-check.ts';
import { parsedBefore } from '../../../src/driver/read-mapping.ts';
import type { GithubIdentity } from '../api/port.ts';
import { type GithubReporterConfig, parseGithubReporter } from '../language/reporter-config.ts';
import { type GithubTrigger, parseGithubTrigger } from '../language/trigger-config.ts';
import { APP_PERMISSIONS } from '../permissions.ts';

type Finding = Omit<OnlineFinding, 'project'>;

/** What the pipelines of a project say together. */
interface Wanted {
  readonly reporters: readonly GithubReporterConfig[];
  readonly triggers: readonly GithubTrigger[];
}

/** One permission of an App; of several names one is enough. */
interface Need {
  readonly names: readonly string[];
  readonly level: 'read' | 'write';
  /** Completes "needed to …"; absent: as {@link APP_PERMISSIONS} has it. */
  readonly why?: string;
  readonly severity: OnlineFinding['severity'];
  readonly isWanted: (wanted: Wanted) => boolean;
}

const READ_PULLS = { level: 'read', severity: 'error', isWanted: () => true } as const;
const REPORT = { level: 'write', severity: 'error' } as const;
const merges = ({ reporters }: Wanted) => reporters.some(({ merge }) => merge === true);

const NEEDS: readonly Need[] = [
  { ...READ_PULLS, names: ['contents'], why: 'fetch changes' },
  { ...READ_PULLS, names: ['pull_requests'], why: 'read pull requests' },
  { ...READ_PULLS, names: ['checks'], why: 'read the checks of pull requests' },
  { ...READ_PULLS, names: ['statuses'], why: 'read the commit statuses of pull requests' },
  {
    ...REPORT,
    names: ['checks'],
    isWanted: ({ reporters }) => reporters.some(({ check }) => check !== undefined),
  },
  {
    ...REPORT,
    names: ['statuses'],
    isWanted: ({ reporters }) => reporters.some(({ status }) => status !== undefined),
  },
  {
    ...REPORT,
    names: ['issues', 'pull_requests'],
    isWanted: ({ reporters }) =>
      reporters.some(
        each => each.comment !== false || each.label !== undefined || each.unlabel !== undefined,
      ),
  },
  {
    ...REPORT,
    names: ['pull_requests'],
    isWanted: ({ reporters }) => reporters.some(({ review }) => review !== undefined),
  },
  { ...REPORT, names: ['contents'], isWanted: merges },
  { names: ['workflows'], level: 'write', severity: 'warning', isWanted: merges },
  { names: ['administration'], level: 'read', severity: 'warning', isWanted: merges },
  {
    names: ['merge_queues'],
    level: 'read',
    severity: 'error',
    isWanted: ({ triggers }) => triggers.some(({ event }) => event.includes('merge_group')),
  },
];

const LEVELS: readonly string[] = ['read', 'write', 'admin'];

/** @param role of a token's user, as `viewerPermission` of GraphQL; null: not known. */
export function missingPermissions(
  { pipelines }: ProjectUse,
  {
    identity,
    role,
  }: {
    readonly identity: Pick<GithubIdentity, 'login' | 'app' | 'permissions'>;
    readonly role: string | null;
  },
): readonly Finding[] {
  const wanted: Wanted = {
    reporters: pipelines.flatMap(each => each.reporters.map(one => parsedBefore(parseGithubReporter(one)))),
    triggers: pipelines.flatMap(each => each.triggers.map(one => parsedBefore(parseGithubTrigger(one)))),
  };
  if (identity.app === null) return tokenFindings(wanted, identity.login, role);
  return identity.permissions === null ? [] : appFindings(wanted, identity.permissions);
}

function appFindings(wanted: Wanted, granted: { readonly [name: string]: string }): readonly Finding[] {
  const lacks = ({ names, level }: Need) =>
    names.every(name => LEVELS.indexOf(granted[name] ?? '') < LEVELS.indexOf(level));
  const missing = NEEDS.filter(need => need.isWanted(wanted) && lacks(need));
  const written = new Set(missing.filter(({ level }) => level === 'write').flatMap(({ names }) => names));
  return missing
    .filter(({ names, level }) => level === 'write' || !names.some(name => written.has(name)))
    .map(({ names, level, why, severity }) => ({
      severity,
      text: `the App lacks the permission ${names.map(name => `${name}: ${level}`).join(' or ')}, needed to ${why ?? whyOf(names)}: grant it in the App's settings, and accept it in its installation`,
    }));
}

function whyOf(names: readonly string[]): string {
  return APP_PERMISSIONS.find(({ name }) => names.includes(name))?.why ?? 'report';
}

const MAY_WRITE: readonly string[] = ['WRITE', 'MAINTAIN', 'ADMIN'];

function tokenFindings(wanted: Wanted, login: string, role: string | null): readonly Finding[] {
  const writes = wanted.reporters.some(
    ({ check, status, merge }) => check !== undefined || status !== undefined || merge === true,
  );
  const mayNot: readonly Finding[] =
    writes && role !== null && !MAY_WRITE.includes(role)
      ? [
          {
            severity: 'error',
            text: `the token's user ${login} may not write (${role.toLowerCase()}), and statuses and merges need that: give ${login} the role write`,
          },
        ]
      : [];
  if (!wanted.reporters.some(({ check }) => check !== undefined)) return mayNot;
  return [
    ...mayNot,
    {
      severity: 'warning',
      text: 'check runs need a GitHub App; with a token a status takes their place',
    },
  ];
}
