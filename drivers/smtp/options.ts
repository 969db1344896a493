/** The options of `[connection NAME]` with `driver = smtp`: Zuul's, read once at the start. */
import type { OptionReader } from '../../src/lib/option-reader.ts';
import type { Secret } from '../../src/lib/secret.ts';
import { addressesProblem } from './reporter-config.ts';

/** Valid, and with all defaults applied. */
export interface SmtpOptions {
  /** Host name or address. Default `localhost`. */
  readonly server: string;
  /** Default 25. */
  readonly port: number;
  /** Default `zuul`. */
  readonly defaultFrom: string;
  /** Default `zuul`. */
  readonly defaultTo: string;
  /** Undefined: no login. */
  readonly login: { readonly user: string; readonly password: Secret } | undefined;
  /** The server's certificate is checked. Default false. */
  readonly startTls: boolean;
  /** File of certificates that are trusted in place of the machine's. */
  readonly caCerts: string | undefined;
}

/** @returns undefined when something was invalid; the reader holds the reasons. */
export function readSmtpOptions(read: OptionReader): SmtpOptions | undefined {
  let valid = true;
  const refuse = (option: string, reason: string) => {
    valid = false;
    read.refuse(option, reason);
  };
  const server = read.string('server', 'localhost');
  if (!/^[\w.:-]+$/.test(server)) refuse('server', `"${server}" is no host name`);
  const defaultFrom = read.string('default_from', 'zuul');
  const defaultTo = read.string('default_to', 'zuul');
  const wrongFrom = addressesProblem('from', defaultFrom);
  if (wrongFrom !== undefined) refuse('default_from', wrongFrom);
  const wrongTo = addressesProblem('to', defaultTo);
  if (wrongTo !== undefined) refuse('default_to', wrongTo);
  const user = read.string('user');
  const password = read.secret('password');
  const startTls = read.boolean('use_starttls', false);
  const caCerts = read.path('ca_certs');
  if (caCerts !== undefined && !startTls) refuse('ca_certs', 'goes with "use_starttls"');
  return valid
    ? {
        ...{ server, port: read.integer('port', { min: 1, max: 65_535 }, 25), defaultFrom, defaultTo },
        // As in Zuul, a name alone is ignored.
        login: user === undefined || password === undefined ? undefined : { user, password },
        ...{ startTls, caCerts },
      }
    : undefined;
}
