/**
 * X.509 certificates made on the spot, valid for an hour, so that no key lies in the repository and no openssl is needed.
 *
 *     const authority = makeAuthority('test authority');
 *     const { cert, key } = authority.issue('client');    // PEM, for 127.0.0.1 and localhost
 *     tls.connect({ ca: authority.cert, cert, key, ... });
 */
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

interface Certificate {
  /** PEM. */
  readonly cert: Buffer;
  /** PEM, PKCS #8. */
  readonly key: Buffer;
}

export interface Authority extends Certificate {
  issue(commonName: string): Certificate;
}

export function makeAuthority(commonName: string): Authority {
  const keys = newKeys();
  const self = certify({
    subject: commonName,
    keys,
    issuer: commonName,
    signer: keys.privateKey,
    isAuthority: true,
  });
  return {
    ...self,
    issue(subject) {
      const theirs = newKeys();
      return certify({
        subject,
        keys: theirs,
        issuer: commonName,
        signer: keys.privateKey,
        isAuthority: false,
      });
    },
  };
}

interface Keys {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

function newKeys(): Keys {
  return generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
}

interface Request {
  readonly subject: string;
  readonly keys: Keys;
  readonly issuer: string;
  readonly signer: KeyObject;
  readonly isAuthority: boolean;
}

const HOUR_MS = 3_600_000;

function certify({ subject, keys, issuer, signer, isAuthority }: Request): Certificate {
  const now = Date.now();
  const algorithm = sequence(ECDSA_WITH_SHA256);
  const body = sequence(
    node(0xa0, node(0x02, Buffer.of(2))),
    node(0x02, Buffer.concat([Buffer.of(1), randomBytes(8)])),
    algorithm,
    name(issuer),
    sequence(time(now - HOUR_MS), time(now + HOUR_MS)),
    name(subject),
    keys.publicKey.export({ type: 'spki', format: 'der' }),
    node(0xa3, sequence(isAuthority ? AUTHORITY : ALTERNATIVE_NAMES)),
  );
  const signature = sign('sha256', body, signer);
  const der = sequence(body, algorithm, bitString(signature));
  const lines = der.toString('base64').replace(/.{1,64}/g, '$&\n');
  return {
    cert: Buffer.from(`-----BEGIN CERTIFICATE-----\n${lines}-----END CERTIFICATE-----\n`),
    key: Buffer.from(keys.privateKey.export({ type: 'pkcs8', format: 'pem' })),
  };
}

/** One value of DER: tag, length, content. */
function node(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const length =
    content.length < 0x80
      ? Buffer.of(content.length)
      : content.length < 0x100
        ? Buffer.of(0x81, content.length)
        : Buffer.of(0x82, content.length >> 8, content.length & 0xff);
  return Buffer.concat([Buffer.of(tag), length, content]);
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return node(0x30, ...parts);
}

function oid(...bytes: readonly number[]): Buffer {
  return node(0x06, Buffer.from(bytes));
}

function bitString(bits: Buffer): Buffer {
  return node(0x03, Buffer.of(0), bits);
}

function name(commonName: string): Buffer {
  return sequence(node(0x31, sequence(oid(0x55, 4, 3), node(0x0c, Buffer.from(commonName)))));
}

/** 20261120203500Z */
function time(ms: number): Buffer {
  return node(0x18, Buffer.from(`${new Date(ms).toISOString().slice(0, 19).replace(/\D/g, '')}Z`));
}

function extension(id: Buffer, value: Buffer): Buffer {
  return sequence(id, node(0x04, value));
}

/** 1.2.840.10045.4.3.2 */
const ECDSA_WITH_SHA256 = oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2);
/** basicConstraints: may sign certificates. */
const AUTHORITY = extension(oid(0x55, 0x1d, 0x13), sequence(node(0x01, Buffer.of(0xff))));
/** subjectAltName: localhost and 127.0.0.1. */
const ALTERNATIVE_NAMES = extension(
  oid(0x55, 0x1d, 0x11),
  sequence(node(0x82, Buffer.from('localhost')), node(0x87, Buffer.of(127, 0, 0, 1))),
);
