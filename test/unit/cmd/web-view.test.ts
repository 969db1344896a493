/** What a tenant's page and API show of what its code hosts refuse. */
import { expect, test } from 'vitest';
import { snapshotOf, type WebViewDeps } from '../../../src/cmd/service/web-view.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import type { HostFault } from '../../../src/model/connection-health.ts';
import { projectKey } from '../../../src/model/project.ts';
import { emptyLayout } from '../../fake/records.ts';

const REFUSED: HostFault = {
  severity: 'error',
  project: 'acme/app',
  text: 'acme/app: Gerrit did not take our vote Nope +1.',
  onlyForCycles: false,
};
const FOREIGN: HostFault = { ...REFUSED, project: 'other/app' };
const ONE_BY_ONE: HostFault = {
  severity: 'warning',
  project: null,
  text: 'one by one',
  onlyForCycles: true,
};

function faultsFor(connection: string, cycleConnections: readonly string[]) {
  const project = projectKey({ connection, name: 'acme/app' });
  const layout = emptyLayout({
    projects: [{ project, trusted: false, includeBranches: [], excludeBranches: [] }],
    cycleConnections,
  });
  const deps = {
    live: { layout: () => layout } as unknown as WebViewDeps['live'],
    waiting: { ofConnection: () => 0, ofTenant: () => 0 },
    clock: systemClock(),
    connections: new Map(),
    connectionReport: (name: string) =>
      name === 'gerrit' ? { faults: [REFUSED, FOREIGN, ONE_BY_ONE] } : undefined,
    spans: undefined,
  };
  return snapshotOf('acme', deps)?.hostFaults.map(({ text, project: name }) => [name, text]);
}

test("a tenant sees what its hosts refuse to its projects, and nothing of other tenants' projects", () => {
  expect(faultsFor('gerrit', [])).toEqual([['acme/app', REFUSED.text]]);
  expect(faultsFor('local', ['local'])).toEqual([]);
});

test('a tenant whose changes may land together is warned of a host that lands them one by one', () => {
  expect(faultsFor('gerrit', ['gerrit'])).toEqual([
    ['acme/app', REFUSED.text],
    [null, 'one by one'],
  ]);
});
