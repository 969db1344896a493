/**
 * The Unix socket of this machine's web, named by the service's settings. Reads only `[web]` and the sections its defaults use.
 *
 * The default socket is never used for a service named by address, because it may be another service; `--config` decides.
 */
import type { Environment } from '../../settings/interpolate.ts';
import { readSections } from '../../settings/read-settings.ts';
import type { Endpoint } from '../client/endpoint.ts';
import { type Refused, refused } from './refused.ts';

/** The settings file of a command that is given none. */
export const DEFAULT_CONFIG = '/etc/gatehouse/gatehouse.conf';

const OR_A_TOKEN = 'or send a token, see "gatehouse help create-auth-token"';

/** `--url` and `--config`; they win over `GATEHOUSE_URL` and `GATEHOUSE_CONFIG`. */
export interface SocketOptions {
  readonly url?: string;
  readonly config?: string;
}

/** Does not check whether anything listens there. */
export function findSocket(options: SocketOptions, environment: Environment): Endpoint | Refused {
  const { GATEHOUSE_URL = '', GATEHOUSE_CONFIG = '' } = environment;
  const named = options.config ?? (GATEHOUSE_CONFIG === '' ? undefined : GATEHOUSE_CONFIG);
  const url = options.url ?? GATEHOUSE_URL;
  if (named === undefined && url !== '')
    return refused(
      `the service at ${url} accepts this only with a token (see "gatehouse help create-auth-token"); on its own machine, name its settings with --config instead`,
    );
  const config = named ?? DEFAULT_CONFIG;
  const read = readSections(config, environment, { wanted: ['web'] });
  if (read.kind === 'settings') return { kind: 'socket', path: read.settings.web.commandSocket };
  return refused(`the service's settings name its socket, but ${read.errors.join('; ')}; ${OR_A_TOKEN}`);
}
