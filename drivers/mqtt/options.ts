/** The options of `[connection NAME]` with `driver = mqtt`: Zuul's, read once at the start. */
import { readFileSync } from 'node:fs';
import type { OptionReader } from '../../src/lib/option-reader.ts';
import type { Secret } from '../../src/lib/secret.ts';

/** Valid, and with all defaults applied. */
export interface MqttOptions {
  /** Host name or address. Default `localhost`. */
  readonly server: string;
  /** Default 1883. */
  readonly port: number;
  /** Seconds between signs of life. Default 60. */
  readonly keepalive: number;
  /** Undefined: the broker chooses. */
  readonly clientId: string | undefined;
  readonly user: string | undefined;
  readonly password: Secret | undefined;
  /** Undefined: the connection is not encrypted. */
  readonly tls: TlsOptions | undefined;
}

/** Texts of PEM files. */
interface TlsOptions {
  readonly ca: string;
  readonly cert?: string;
  readonly key?: string;
  /** In OpenSSL's form. */
  readonly ciphers?: string;
}

/** @returns undefined when something was invalid; the reader holds the reasons. */
export function readMqttOptions(read: OptionReader): MqttOptions | undefined {
  let valid = true;
  const refuse = (option: string, reason: string) => {
    valid = false;
    read.refuse(option, reason);
  };
  const file = (option: string, path: string | undefined) => {
    if (path === undefined) return undefined;
    try {
      return readFileSync(path, 'utf8');
    } catch (error) {
      refuse(option, `cannot be read: ${error instanceof Error ? error.message : String(error)}`);
      return undefined;
    }
  };
  const server = read.string('server', 'localhost');
  if (!/^[\w.:-]+$/.test(server)) refuse('server', `"${server}" is no host name`);
  const ca = file('ca_certs', read.path('ca_certs'));
  const cert = file('certfile', read.path('certfile'));
  const key = file('keyfile', read.path('keyfile'));
  const ciphers = read.string('ciphers');
  if (['certfile', 'keyfile', 'ciphers'].some(each => read.has(each)) && !read.has('ca_certs'))
    refuse('ca_certs', 'is required with "certfile", "keyfile" or "ciphers"');
  if (read.has('certfile') !== read.has('keyfile'))
    refuse('certfile', 'goes with "keyfile", and only with it');
  const user = read.string('user');
  const password = read.secret('password');
  if (password !== undefined && user === undefined) refuse('password', 'goes with "user"');
  const options = {
    ...{ server, port: read.integer('port', { min: 1, max: 65_535 }, 1883) },
    keepalive: read.integer('keepalive', { min: 5, max: 65_535 }, 60),
    ...{ clientId: read.string('client_id'), user, password },
  };
  if (!valid) return undefined;
  const tls =
    ca === undefined
      ? undefined
      : {
          ca,
          ...(cert === undefined || key === undefined ? {} : { cert, key }),
          ...(ciphers === undefined ? {} : { ciphers }),
        };
  return { ...options, tls };
}
