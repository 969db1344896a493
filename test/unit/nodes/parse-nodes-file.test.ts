import { expect, test } from 'vitest';
import { configErrorText } from '../../../src/model/config-error.ts';
import { parseNodesFile } from '../../../src/nodes/parse-nodes-file.ts';

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGZha2VmYWtlZmFrZWZha2VmYWtlZmFrZWZha2VmYWtl';

function errors(text: string): readonly string[] {
  const parsed = parseNodesFile(text, 'nodes.yaml');
  return parsed.kind === 'invalid' ? parsed.errors.map(configErrorText) : [];
}

test('a host has the defaults of the file', () => {
  const text = `
private-key: /etc/gatehouse/key
tenant-limits: {acme: 2}
outage-limit: 90
hosts:
  - {name: web1, host-key: ${KEY} root@web1, labels: debian}
  - {name: web2, address: 10.0.0.5, port: 2222, username: ci, host-key: [${KEY}], private-key: /other, max-parallel-jobs: 3, labels: [a, b], python-path: /usr/bin/python3, executor-zone: dmz-1, variables: {ansible_become: true}}
`;
  const web1 = {
    ...{ name: 'web1', address: 'web1', port: 22, username: 'zuul', hostKeys: [KEY], maxParallelJobs: 1 },
    ...{ privateKey: '/etc/gatehouse/key', labels: ['debian'] },
  };
  const web2 = {
    ...{ name: 'web2', address: '10.0.0.5', port: 2222, username: 'ci', hostKeys: [KEY], maxParallelJobs: 3 },
    ...{ privateKey: '/other', labels: ['a', 'b'], zone: 'dmz-1', pythonPath: '/usr/bin/python3' },
    variables: { ansible_become: true },
  };
  expect(parseNodesFile(text, 'nodes.yaml')).toEqual({
    kind: 'nodes',
    hosts: [web1, web2],
    pools: [],
    tenantLimits: new Map([['acme', 2]]),
    outageLimit: 90_000,
  });
});

test('builds wait an hour for hosts out of service, another time, or without limit', () => {
  const limitOf = (text: string) => {
    const parsed = parseNodesFile(`hosts: []\n${text}`, 'nodes.yaml');
    return parsed.kind === 'nodes' ? parsed.outageLimit : parsed.errors.map(configErrorText);
  };
  expect(limitOf('')).toBe(3_600_000);
  expect(limitOf('outage-limit: 0')).toBeNull();
  expect(limitOf('outage-limit: -1')).toEqual([expect.stringMatching(/outage-limit.*-1/)]);
});

test('a zone has a name that may stand in other names', () => {
  const text = `hosts: [{name: a, host-key: ${KEY}, labels: [x], private-key: /k, executor-zone: a~b}]`;
  expect(errors(text)).toEqual([expect.stringMatching(/"a~b" cannot be a zone; use up to 50 letters/)]);
});

test('each mistake has its place and what to do', () => {
  const text = `hosts:
  - {name: "a b", host-key: ${KEY}, labels: [x], private-key: /k}
  - {name: web, labels: [x], private-key: /k}
  - {name: web, host-key: ssh-ed25519 AAAA, private-key: key, address: "-oProxyCommand=x", port: 0}
  - {name: other, host-key: ${KEY}, labels: [x], prot: 5}
`;
  expect(errors(text).map(line => line.replace(/^nodes\.yaml:/, ''))).toEqual([
    expect.stringMatching(/^2:.*"a b" cannot be the name of a host/),
    expect.stringMatching(/^3:.*a host needs its public key, "host-key"/),
    expect.stringMatching(/^4:.*host web has no labels/),
    expect.stringMatching(/^4:.*host-key is no public key/),
    expect.stringMatching(/^4:.*private-key is "key"; it must be an absolute path/),
    expect.stringMatching(/^4:.*it must be a host name or an IP address/),
    expect.stringMatching(/^4:.*port of host web is 0/),
    expect.stringMatching(/^5:.*host other lacks "private-key"/),
    expect.stringMatching(/^5:.*"prot".*port/),
  ]);
  const twice = `{name: web, host-key: ${KEY}, labels: [x], private-key: /k}`;
  expect(errors(`hosts: [${twice}, ${twice}]`)).toEqual([expect.stringMatching(/host web is defined twice/)]);
  expect(errors('- a')).toEqual([expect.stringMatching(/must be a mapping with "hosts"/)]);
});
