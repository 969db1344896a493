/** `network: true` is a request of the configuration; the operator of the executor decides. */
import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildRequest, openBench, script } from './fixture.ts';

let server: Server;
let met = 0;
let port = 0;
beforeAll(async () => {
  server = createServer(socket => {
    met += 1;
    socket.end();
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (typeof address === 'object' && address !== null) port = address.port;
});
afterAll(() => new Promise(resolve => server.close(resolve)));

/** Asks for network and knocks at a service of the host. */
async function knock(options: Parameters<typeof openBench>[0]) {
  await using bench = await openBench(options);
  const commit = await bench.commit({
    'ci/knock.sh': script(`bash -c 'exec 3<>/dev/tcp/127.0.0.1/${port} && echo reached'`),
  });
  met = 0;
  return await bench.submit(buildRequest(commit, { run: ['ci/knock.sh'] }, { jobFacts: { network: true } }))
    .ended;
}

test.each(['none', 'auto'] as const)(
  'a job that asks for network is refused by default (sandbox = %s)',
  async sandbox => {
    const { result, log } = await knock({ sandbox });
    expect(result).toMatchObject({
      result: 'ERROR',
      detail: 'job unit asks for network; this executor grants none ([executor] allow_host_network)',
    });
    expect(log).not.toContain('network: that of the host');
    expect(met).toBe(0);
  },
);

test.each(['none', 'auto'] as const)(
  'an executor that allows it gives the network of the host, and the log says so (sandbox = %s)',
  async sandbox => {
    const { result, log } = await knock({ sandbox, allowHostNetwork: true });
    expect(result.result).toBe('SUCCESS');
    expect(log).toContain('network: that of the host, its loopback services included');
    expect(log).toContain('| reached');
    expect(met).toBe(1);
  },
);
