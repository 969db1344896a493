/** `gatehouse encrypt`: a secret of a project, encrypted with the project's public key, as YAML to paste into its configuration. */
import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { encryptOaep } from '../../lib/pkcs1-oaep.ts';
import { type Io, print } from '../terminal/io.ts';
import { type Refused, refused } from './refused.ts';
import { type AskOptions, addAskOptions, type Session, tenantPath, withTenantService } from './session.ts';

interface EncryptOptions extends AskOptions {
  readonly infile?: string;
  readonly publicKey?: string;
  readonly secretName: string;
  readonly fieldName: string;
  readonly strip: boolean;
}

const EXAMPLES = `
Examples:
  printf %s "$TOKEN" | gatehouse encrypt acme/app --secret-name deploy --field-name token
  gatehouse encrypt acme/app --infile id_ed25519

The secret is read from standard input, or from --infile; the key comes from the service, or from --public-key.`;

/** Bytes of a secret: a file of configuration may have 1 MiB, and encryption makes it larger by a half. */
const MOST_BYTES = 200_000;

/** @param done gets the exit status: 1 when there is no such project, or nothing to encrypt. */
export function addEncryptCommand(program: Command, io: Io, done: (status: number) => void): void {
  const command = program
    .command('encrypt')
    .summary('encrypt a secret for a project')
    .description(
      "Encrypts a secret with a project's public key and prints it as YAML for the project's configuration.",
    )
    .argument('<project>', 'name of the project')
    .option('--infile <file>', 'read the secret from a file instead of standard input')
    .option('--public-key <file>', 'PEM with the public key of the project; asks no service')
    .option('--secret-name <name>', 'name of the secret in the YAML', '<name>')
    .option('--field-name <name>', 'name of the value in the YAML', '<fieldname>')
    .option('--no-strip', 'keep white space at the beginning and end of standard input');
  addAskOptions(command)
    .addHelpText('after', EXAMPLES)
    .action(async (project: string, options: EncryptOptions) => done(await run(io, project, options)));
}

async function run(io: Io, project: string, options: EncryptOptions): Promise<number> {
  if (options.publicKey !== undefined) {
    const key = await readText(options.publicKey);
    const outcome = typeof key === 'string' ? await encrypt(io, key, options) : key;
    if (typeof outcome === 'number') return outcome;
    io.stderr.write(`error: ${outcome.text}\n`);
    return 1;
  }
  return withTenantService(io, options, async (session: Session) => {
    const path = project.split('/').map(encodeURIComponent).join('/');
    return encrypt(io, await session.api.text(tenantPath(session, `key/${path}.pub`)), options);
  });
}

async function encrypt(io: Io, publicKey: string, options: EncryptOptions): Promise<number | Refused> {
  const input = options.infile === undefined ? await textOf(io) : await readText(options.infile);
  if (typeof input !== 'string') return input;
  const secret = options.strip && options.infile === undefined ? input.trim() : input;
  if (secret === '') return refused('there is nothing to encrypt: the secret is empty');
  if (Buffer.byteLength(secret) > MOST_BYTES)
    return refused(`the secret has more than ${MOST_BYTES} bytes; encrypt a key here and the data with it`);
  try {
    print(io, yamlOf(encryptOaep(secret, publicKey), options));
    return 0;
  } catch (error) {
    return refused(
      `the public key cannot be used: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

async function textOf({ stdin }: Pick<Io, 'stdin'>): Promise<string | Refused> {
  const parts: Buffer[] = [];
  for await (const part of stdin?.() ?? []) parts.push(Buffer.from(part));
  return decoded(Buffer.concat(parts), 'standard input');
}

async function readText(file: string): Promise<string | Refused> {
  try {
    return decoded(await readFile(file), file);
  } catch (error) {
    return refused(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Variables of jobs are text. */
function decoded(bytes: Buffer, name: string): string | Refused {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return refused(`${name} is not text in UTF-8; encode it, for instance with base64`);
  }
}

const WIDTH = 79;

/** In the layout of zuul-client. */
function yamlOf(
  chunks: readonly string[],
  { secretName, fieldName }: Pick<EncryptOptions, 'secretName' | 'fieldName'>,
): string {
  const head = [
    '- secret:',
    `    name: ${secretName}`,
    '    data:',
    `      ${fieldName}: !encrypted/pkcs1-oaep`,
  ];
  return [...head, ...chunks.flatMap(chunk => linesOf(chunk))].join('\n');
}

function linesOf(chunk: string): readonly string[] {
  const room = WIDTH - 10;
  const lines: string[] = [];
  for (let at = 0; at < chunk.length; at += room) lines.push(chunk.slice(at, at + room));
  return lines.map((line, index) => `${index === 0 ? '        - ' : '          '}${line}`);
}
