/** Connections to servers, plain or with TLS, and the meaning of their errors. */
import net from 'node:net';
import tls from 'node:tls';
import type { ZooKeeperHost, ZooKeeperOptions } from './options.ts';

/** Opens sockets, plain or with TLS; it neither waits nor retries. */
export interface Dialer {
  /** The event after which the socket may be written to. */
  readonly readyEvent: 'connect' | 'secureConnect';
  dial(host: ZooKeeperHost): net.Socket;
}

/** @throws Error when certificate or key cannot be used. */
export function createDialer(options: ZooKeeperOptions['tls']): Dialer {
  if (options === undefined) {
    return { readyEvent: 'connect', dial: ({ host, port }) => net.connect({ host, port }) };
  }
  const secureContext = secureContextOf(options);
  return {
    readyEvent: 'secureConnect',
    dial: ({ host, port }) => {
      // A server name may not be an address; an address is checked against the certificate all the same.
      const servername = net.isIP(host) === 0 ? { servername: host } : {};
      return tls.connect({ host, port, secureContext, ...servername });
    },
  };
}

function secureContextOf({ ca, cert, key }: NonNullable<ZooKeeperOptions['tls']>): tls.SecureContext {
  try {
    return tls.createSecureContext({ ca, cert, key });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`ZooKeeper: tls_ca, tls_cert and tls_key must be PEM and belong together: ${reason}`, {
      cause: error,
    });
  }
}

const VERIFICATION =
  /^(CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|INVALID_CA|HOSTNAME_MISMATCH|ERR_SSL_|ERR_TLS_|EPROTO)/;

/** Whether the two sides reject each other's certificates or protocol, which a retry cannot change. */
export function isTlsRefusal(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    typeof error.code === 'string' &&
    VERIFICATION.test(error.code)
  );
}
