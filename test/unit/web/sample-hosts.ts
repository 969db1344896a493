/** Four hosts, two held for failed builds of two tenants, and what tenant `main` asked to be held. */
import type { NodesNow } from '../../../src/api/node-waits.ts';
import type { HostState, StaticHost } from '../../../src/model/static-host.ts';
import type { StoredHold } from '../../../src/nodes/hold-requests.ts';
import { at, uuidOf } from './sample-item.ts';

const HELD_BUILD = uuidOf('schema', 'build', '1', 'unit-tests', '1');
const KEPT_BUILD = uuidOf('docs', 'build', '1', 'unit-tests', '1');

export const SAMPLE_HOLDS: readonly StoredHold[] = [
  {
    id: '0000000001',
    node: 'main-0000000001',
    version: 0,
    hold: {
      tenant: 'main',
      project: 'git.example.org/acme/app',
      job: 'unit-tests',
      filter: { on: 'all' },
      reason: 'why does it fail?',
      by: 'ada (company)',
      at: at(-400),
      maxCount: 2,
      count: 2,
      expiration: 3600,
      held: [
        { build: HELD_BUILD, at: at(-180), hosts: ['arm-1'] },
        {
          build: KEPT_BUILD,
          at: at(-120),
          hosts: [],
          workspace: { executor: 'ci1', path: '/jobs/.held/x', bytes: 4096 },
        },
      ],
    },
  },
];

function host(name: string, labels: readonly string[]): StaticHost {
  return {
    ...{ name, address: `${name}.example.org`, port: 22, username: 'ci', hostKeys: ['ssh-ed25519 AAAA'] },
    ...{ privateKey: '/etc/key', maxParallelJobs: 2, labels },
  };
}

function held(reason: string, request?: NonNullable<HostState['held']>['request']): HostState {
  return { held: { reason, since: at(-180), ...(request === undefined ? {} : { request }) } };
}

/** @param building of the last host. */
export function sampleNodes(building: NodesNow['hosts'][number]['builds'] = []): NodesNow {
  return {
    hosts: [
      {
        host: host('arm-1', ['arm']),
        state: held('why does it fail?', { id: '0000000001', build: HELD_BUILD }),
        builds: [],
      },
      {
        host: host('arm-2', ['arm']),
        state: held('secret plans of another tenant', { id: '0000000009', build: uuidOf('foreign') }),
        builds: [],
      },
      {
        host: host('big-1', ['big', 'debian']),
        state: { trouble: { reason: 'it does not answer', since: at(200), tries: 1, retryAt: at(400) } },
        builds: [],
      },
      { host: host('debian-1', ['debian']), builds: building },
    ],
    requests: [],
  };
}
