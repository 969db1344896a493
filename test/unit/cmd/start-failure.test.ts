import { describe, expect, test } from 'vitest';
import { startFailureText } from '../../../src/cmd/start-failure.ts';
import { StoreFileError } from '../../../src/store/embedded/journal.ts';

const settings = {
  scheduler: {
    tenantConfig: '/etc/t.yaml',
    stateDir: '/var/lib/gatehouse',
    relativePriority: false,
    defaultHoldExpiration: 60,
    maxHoldExpiration: 0,
  },
  web: {
    listenAddress: '127.0.0.1',
    port: 80,
    root: undefined,
    commandSocket: '/var/lib/gatehouse/gatehouse.sock',
    trustedProxies: [],
    maxConnections: 2000,
    maxConnectionsPerAddress: 100,
    sse: { maxClients: 1, maxClientsPerAddress: 1, heartbeat: 1, maxBacklogBytes: 1, gatherMs: 1 },
  },
};

function coded(code: string, message: string, facts: object = {}): Error {
  return Object.assign(new Error(message), { code, ...facts });
}

describe('a start that fails', () => {
  test.each([
    [new StoreFileError('store file x: it is in use'), 'store file x: it is in use; see [store] path'],
    [
      coded('EADDRINUSE', 'listen'),
      '127.0.0.1:80 is in use by another program; stop that program, or set [web] port (0 takes any free one)',
    ],
    [
      coded('EACCES', 'listen EACCES', { syscall: 'listen' }),
      'this user may not listen on 127.0.0.1:80; set [web] port above 1023',
    ],
    [
      coded('EACCES', "EACCES: permission denied, mkdir '/var/lib/gatehouse'", { syscall: 'mkdir' }),
      "EACCES: permission denied, mkdir '/var/lib/gatehouse'; state is kept in /var/lib/gatehouse, see [scheduler] state_dir",
    ],
  ])('for a reason an operator can fix is one line: %s', (error, text) => {
    expect(startFailureText(error, settings)).toBe(text);
  });

  test('by a defect is not explained away', () => {
    expect(startFailureText(new TypeError('x is not a function'), settings)).toBeUndefined();
  });
});
