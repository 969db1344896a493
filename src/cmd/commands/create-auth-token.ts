/** `gatehouse create-auth-token`: an operator's token, signed with the secret of an HS256 realm. */
import { createSecretKey } from 'node:crypto';
import { type Command, InvalidArgumentError } from 'commander';
import { SignJWT } from 'jose';
import { toMilliseconds } from '../../lib/clock.ts';
import { parseDuration } from '../../lib/duration.ts';
import { didYouMean } from '../../lib/nearest-name.ts';
import { readSections } from '../../settings/read-settings.ts';
import type { AuthSettings } from '../../settings/settings.ts';
import { type Io, print } from '../terminal/io.ts';
import { DEFAULT_CONFIG } from './find-socket.ts';
import { type Refused, refused } from './refused.ts';
import { complain } from './session.ts';

interface TokenOptions {
  readonly config: string;
  readonly authConf: string;
  readonly tenant: readonly string[];
  readonly user: string;
  /** Seconds. */
  readonly expiresIn: number;
}

const EXAMPLES = `
Examples:
  export GATEHOUSE_AUTH_TOKEN=$(gatehouse create-auth-token --auth-conf operators --tenant acme --user alice)
  curl -H "Authorization: $(gatehouse create-auth-token --auth-conf operators --tenant acme --user ci)" ...

The bearer of the token acts as that user until it expires; it cannot be revoked.`;

/**
 * Asks no service: it reads the section and signs.
 *
 * @param done gets the exit status: 1 when the settings are invalid or the section cannot sign.
 */
export function addCreateAuthTokenCommand(program: Command, io: Io, done: (status: number) => void): void {
  program
    .command('create-auth-token')
    .summary('create a token for an operator of a tenant')
    .description(
      'Creates a token, signed with the secret of an [auth NAME] section with driver HS256, and prints it as the value of an Authorization header.',
    )
    .requiredOption('--auth-conf <name>', 'NAME of the section [auth NAME]')
    .requiredOption(
      '--tenant <name>',
      'tenant the bearer may operate; may be repeated',
      (name: string, others: readonly string[] | undefined) => [...(others ?? []), name],
    )
    .requiredOption('--user <name>', 'user the token identifies')
    .option('--expires-in <duration>', 'how long the token is valid, e.g. 600, 10m or 8h', parseSeconds, 600)
    .option('-c, --config <file>', 'settings file', DEFAULT_CONFIG)
    .addHelpText('after', EXAMPLES)
    .action(async (options: TokenOptions) => {
      const token = await createToken(io, options);
      if (typeof token === 'string') print(io, `Bearer ${token}`);
      done(typeof token === 'string' ? 0 : complain(io, token.text));
    });
}

/** @throws InvalidArgumentError */
function parseSeconds(text: string): number {
  const seconds = parseDuration(text);
  if (seconds === undefined || seconds < 1)
    throw new InvalidArgumentError('It must be a duration such as 600, 10m or 8h.');
  return Math.floor(seconds);
}

async function createToken(io: Io, options: TokenOptions): Promise<string | Refused> {
  const read = readSections(options.config, io.environment, { wanted: ['auth'] });
  if (read.kind === 'invalid') return refused(read.errors.join('\nerror: '));
  const section = signingSection(read.settings.auth, options);
  if ('kind' in section) return section;
  const now = Math.floor(toMilliseconds(io.clock.now()) / 1000);
  return new SignJWT({
    iss: section.settings.issuer,
    aud: section.settings.audience,
    [section.settings.userClaim]: options.user,
    sub: options.user,
    iat: now,
    exp: now + options.expiresIn,
    zuul: { admin: [...options.tenant] },
  })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .sign(createSecretKey(Buffer.from(section.secret)));
}

function signingSection(
  sections: readonly AuthSettings[],
  { authConf, expiresIn }: TokenOptions,
): { readonly settings: AuthSettings; readonly secret: string } | Refused {
  const settings = sections.find(({ name }) => name === authConf);
  const names = sections.map(({ name }) => name);
  if (settings === undefined)
    return refused(
      `there is no section [auth ${authConf}]${didYouMean(authConf, names) || `; there are: ${names.join(', ') || 'none'}`}`,
    );
  const { key, maxValidity } = settings;
  if (key.kind !== 'HS256')
    return refused(`tokens of [auth ${authConf}] come from ${settings.issuer}; only that issuer has the key`);
  if (!settings.mayGrant)
    return refused(
      `[auth ${authConf}] lacks allow_authz_override = true: the service would reject a token that names tenants`,
    );
  if (maxValidity !== undefined && expiresIn > maxValidity)
    return refused(
      `[auth ${authConf}] max_validity_time is ${maxValidity} s; set --expires-in to that or less`,
    );
  return { settings, secret: key.secret.reveal() };
}
