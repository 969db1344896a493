/** What who is signed in may do to hosts: part of acts.ts. They reset nothing, so that no cost is asked. */
import type { HoldDocument } from '../../api/holds.ts';
import type { NodesDocument } from '../../api/nodes.ts';
import { type Act, encodedProject } from './acts.ts';
import { count } from './format.ts';

/** As the API has it. */
const LONGEST_REASON = 500;
const REASON = { name: 'reason', label: 'Reason, for all to read', longest: LONGEST_REASON } as const;

/** Of a host, by who may operate every tenant. */
export function nodeActs({ id, state, gatehouse }: NodesDocument[number]): readonly Act[] {
  const subject = `node ${id}`;
  const path = (deed: string) => () => `nodes/${encodeURIComponent(id)}/${deed}`;
  if (state !== 'hold')
    return [
      {
        ...{ verb: 'Hold', subject, fields: [REASON], isOfAll: true },
        path: path('hold'),
        body: ({ reason = '' }) => ({ reason }),
        effect: 'No build is given a place on it until it is released; those that are there go on.',
        done: 'It is held.',
      },
    ];
  return [
    {
      ...{ verb: 'Release', subject, fields: [], isOfAll: true },
      path: path('release'),
      body: () => ({}),
      effect:
        gatehouse.held !== null && gatehouse.held.request !== null
          ? 'An executor removes what the failed build left there, and it serves again.'
          : 'It serves again, for builds of all tenants.',
      done: 'It serves again shortly.',
    },
  ];
}

const EXPIRATIONS = [
  ['', 'as long as is usual here'],
  ['86400', 'for a day'],
  ['3600', 'for an hour'],
  ['604800', 'for a week'],
  ['0', 'until it is deleted'],
] as const;

/** A new one. */
export function requestHold(): Act {
  return {
    ...{ verb: 'Request', subject: 'an autohold' },
    fields: [
      { name: 'project', label: 'Project', placeholder: 'acme/app' },
      { name: 'job', label: 'Job', placeholder: 'unit-tests' },
      {
        ...{ name: 'change', label: 'Change, or expression for refs; empty: any' },
        ...{ placeholder: 'master/login, 12 or refs/heads/.*', optional: true },
      },
      REASON,
      { name: 'count', label: 'Failed builds to hold', preset: '1' },
      { name: 'expiration', label: 'Each', choices: EXPIRATIONS },
    ],
    path: ({ project = '' }) => `project/${encodedProject(project)}/autohold`,
    body: ({ job = '', change = '', reason = '', count = '', expiration = '' }) => ({
      ...{ job, reason, count: Number(count) },
      node_hold_expiration: expiration === '' ? null : Number(expiration),
      ...(change === '' ? {} : change.startsWith('refs/') ? { ref: change } : { change }),
    }),
    effect:
      'The hosts of the next builds of the job that fail are kept as they are: no other build gets them. Where it runs on an executor, its workspace is kept there.',
    done: 'Its hosts, or its workspace, are held when it fails.',
  };
}

/** Of one that is there. */
export function autoholdActs({ id, job, nodes, gatehouse }: HoldDocument): readonly Act[] {
  const hosts = nodes.flatMap(each => each.nodes);
  const workspaces = gatehouse.held.filter(({ workspace }) => (workspace ?? null) !== null).length;
  const gone = [
    ...(hosts.length === 0
      ? []
      : [`What failed builds left on ${hosts.join(', ')} is removed, and the hosts serve again.`]),
    ...(workspaces === 0 ? [] : [`${count(workspaces, 'workspace')} that it holds will be removed.`]),
  ];
  return [
    {
      ...{ verb: 'Delete', subject: `the autohold of ${job}`, fields: [], method: 'DELETE' },
      path: () => `autohold/${encodeURIComponent(id)}`,
      body: () => ({}),
      effect: gone.length === 0 ? 'It holds nothing now, and will hold nothing.' : gone.join(' '),
      done: 'It is gone; hosts that it held serve again shortly, and workspaces are removed.',
    },
  ];
}
