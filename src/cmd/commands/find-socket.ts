/**
 * The Unix socket of the web of this machine, which the service's settings name. Only `[web]` and what its defaults follow from is read.
 *
 * Which service is meant must be clear: the socket found by default is not taken for the service of another address, however
 * that was named. Naming the settings settles it.
 */
import type { Environment } from '../../settings/interpolate.ts';
import { readSections } from '../../settings/read-settings.ts';
import type { Door } from '../client/door.ts';
import { type Refused, refused } from './refused.ts';

export const DEFAULT_CONFIG = '/etc/gatehouse/gatehouse.conf';

const OR_A_TOKEN = 'or send a token, see "gatehouse help create-auth-token"';

export interface SocketOptions {
  readonly url?: string;
  readonly config?: string;
}

/** Whether anything listens there is not known yet. */
export function findSocket(options: SocketOptions, environment: Environment): Door | Refused {
  const { GATEHOUSE_URL = '', GATEHOUSE_CONFIG = '' } = environment;
  const named = options.config ?? (GATEHOUSE_CONFIG === '' ? undefined : GATEHOUSE_CONFIG);
  const url = options.url ?? GATEHOUSE_URL;
  if (named === undefined && url !== '')
    return refused(
      `the service at ${url} takes this only with a token (see "gatehouse help create-auth-token"); on its own machine name its settings with --config instead`,
    );
  const config = named ?? DEFAULT_CONFIG;
  const read = readSections(config, environment, { wanted: ['web'] });
  if (read.kind === 'settings') return { kind: 'socket', path: read.settings.web.commandSocket };
  return refused(
    `where the service's socket is stands in its settings, and ${read.errors.join('; ')}; ${OR_A_TOKEN}`,
  );
}
