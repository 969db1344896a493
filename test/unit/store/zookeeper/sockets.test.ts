import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { createDialer, isTlsRefusal } from '../../../../src/store/zookeeper/sockets.ts';

describe('sockets', () => {
  test.each(['127.0.0.1', '::1'])('the address %s is taken as it is', async host => {
    const socket = createDialer(undefined).dial({ host, port: 1 });
    const [error] = await once(socket, 'error').catch((failure: unknown) => [failure]);
    // Refused, or, on a machine without that protocol, not even tried: the place it names is what matters.
    expect(String(error)).toContain(`${host}:1`);
  });

  test.each([
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'SELF_SIGNED_CERT_IN_CHAIN',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    'CERT_HAS_EXPIRED',
    'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA',
    'ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN',
    'ERR_SSL_WRONG_VERSION_NUMBER',
  ])('%s is a refusal', code => {
    expect(isTlsRefusal(Object.assign(new Error('tls'), { code }))).toBe(true);
  });

  test.each(['ECONNRESET', 'ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'ETIMEDOUT'])('%s may pass', code => {
    expect(isTlsRefusal(Object.assign(new Error('net'), { code }))).toBe(false);
  });

  test('an error without a code may pass', () => {
    expect(isTlsRefusal(new Error('no answer in time'))).toBe(false);
    expect(isTlsRefusal(undefined)).toBe(false);
  });
});
