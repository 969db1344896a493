/**
 * The PEM files of `[zookeeper]`, read and checked when a process starts: a bad file is reported with its place in the settings
 * before the first connection, not as a failed handshake later.
 *
 *     gatehouse.conf:7: [zookeeper] tls_key: /etc/gatehouse/key.pem is not the key of tls_cert /etc/gatehouse/cert.pem
 */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { showOptionProblem } from '../lib/option-reader.ts';
import type { FileSetting, ZooKeeperSettings } from './settings.ts';

/** What the client of ZooKeeper needs for TLS, in PEM form. */
export type TlsFiles =
  /** As they are on disk. */
  | { readonly kind: 'files'; readonly cert: Buffer; readonly key: Buffer; readonly ca: Buffer }
  /** Each is one line for the operator. */
  | { readonly kind: 'invalid'; readonly errors: readonly string[] };

/**
 * Checks that each file is what its option says and that the key belongs to the certificate; dates and issuers are left to the
 * handshake. Never throws for a bad file.
 */
export function readTlsFiles(tls: Exclude<ZooKeeperSettings['tls'], undefined>): TlsFiles {
  const errors: string[] = [];

  function read<T>(option: keyof typeof tls, parse: (pem: Buffer) => T, what: string) {
    const { path, at }: FileSetting = tls[option];
    const refuse = (reason: string): undefined => {
      errors.push(showOptionProblem({ at, section: 'zookeeper', option: `tls_${option}`, reason }));
    };
    let pem: Buffer;
    try {
      pem = readFileSync(path);
    } catch (error) {
      return refuse(`${path} cannot be read (${reasonOf(error)})`);
    }
    try {
      return { pem, parsed: parse(pem), refuse, path };
    } catch (error) {
      return refuse(`${path} is no ${what} in PEM form (${reasonOf(error)})`);
    }
  }

  const ca = read('ca', pem => new X509Certificate(pem), 'certificate');
  const cert = read('cert', pem => new X509Certificate(pem), 'certificate');
  const key = read('key', privateKey, 'private key without a passphrase');
  if (cert !== undefined && key !== undefined && !cert.parsed.checkPrivateKey(key.parsed))
    key.refuse(`${key.path} is not the key of tls_cert ${cert.path}`);
  if (ca === undefined || cert === undefined || key === undefined || errors.length > 0)
    return { kind: 'invalid', errors };
  return { kind: 'files', ca: ca.pem, cert: cert.pem, key: key.pem };
}

function privateKey(pem: Buffer): KeyObject {
  return createPrivateKey(pem);
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error && error.code === 'ENOENT' ? 'there is no such file' : error.message;
}
