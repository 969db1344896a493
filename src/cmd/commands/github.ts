/** `gatehouse github create-app`: creates a GitHub App with the permissions the driver uses, through the operator's browser. */
import { existsSync } from 'node:fs';
import { type Command, InvalidArgumentError } from 'commander';
import { appFiles, prepareDirectory, writeAppFiles } from '../github/app-files.ts';
import { LONGEST_APP_NAME } from '../github/app-manifest.ts';
import type { CreatedApp } from '../github/convert-manifest.ts';
import { startManifestFlow } from '../github/manifest-flow.ts';
import { type Io, print } from '../terminal/io.ts';
import { complain } from './session.ts';

interface CreateAppOptions {
  readonly webhookUrl: string;
  readonly name: string;
  readonly connection: string;
  readonly organization?: string;
  readonly server: string;
  readonly directory: string;
  readonly port?: number;
}

const EXAMPLES = `
Examples:
  gatehouse github create-app --webhook-url https://gate.example.org --organization acme
  ssh -L 8123:127.0.0.1:8123 gate.example.org gatehouse github create-app --port 8123 --webhook-url https://gate.example.org

The command serves one page on this machine. Open it in a browser that is logged in to GitHub, confirm, and choose the repositories.`;

const HOST = /^[A-Za-z0-9.-]+(:\d{1,5})?$/;

/** @param done gets the exit status. */
export function addGithubCommands(program: Command, io: Io, done: (status: number) => void): void {
  program
    .command('github')
    .summary('set up GitHub: create-app creates the App')
    .description('Sets up GitHub.')
    .command('create-app')
    .summary('create a GitHub App with the permissions that are needed')
    .description(
      'Creates a GitHub App with exactly the permissions and events the driver uses, saves its key and webhook secret, and prints the [connection] section.',
    )
    .requiredOption(
      '--webhook-url <url>',
      'address at which GitHub reaches this installation',
      parseWebhookUrl,
    )
    .option('--name <name>', 'name of the App, unique at GitHub', parseName, 'gatehouse')
    .option('--connection <name>', 'NAME of the section [connection NAME]', parseConnection, 'github')
    .option('--organization <name>', 'organization that owns the App (default: your own account)')
    .option('--server <host>', 'host of a GitHub Enterprise Server', parseServer, 'github.com')
    .option('--directory <path>', 'where the key and the webhook secret are written', '.')
    .option('--port <number>', 'port of the page on 127.0.0.1 (default: any)', parsePort)
    .addHelpText('after', EXAMPLES)
    .action(async (options: CreateAppOptions) => done(await createApp(io, options)));
}

async function createApp(io: Io, options: CreateAppOptions): Promise<number> {
  const files = appFiles(options.directory, options.connection);
  const taken = Object.values(files).find(file => existsSync(file));
  if (taken !== undefined)
    return complain(io, `${taken} exists; move it away or choose another --directory or --connection`);
  const interrupted = io.interrupted();
  try {
    // GitHub hands over the key once: it must not get lost for want of a directory.
    await prepareDirectory(options.directory);
    await using flow = await startManifestFlow(requestOf(options), interrupted);
    print(io, `Open ${flow.address} in a browser that is logged in to GitHub.`);
    const app = await flow.created;
    await writeAppFiles(files, app);
    print(io, sectionText(app, options, files));
    return 0;
  } catch (error) {
    return interrupted.aborted ? 130 : complain(io, error instanceof Error ? error.message : String(error));
  }
}

function requestOf(options: CreateAppOptions) {
  const { name, organization, server, port = 0, connection } = options;
  const isGithub = server === 'github.com';
  const scheme = /^127\.0\.0\.1:/.test(server) ? 'http' : 'https';
  const web = `${scheme}://${server}`;
  return {
    name,
    organization,
    port,
    web,
    api: isGithub ? 'https://api.github.com' : `${web}/api/v3`,
    webhookUrl: new URL(`/api/connection/${encodeURIComponent(connection)}/payload`, options.webhookUrl).href,
  };
}

function sectionText(app: CreatedApp, options: CreateAppOptions, files: ReturnType<typeof appFiles>): string {
  const server = options.server === 'github.com' ? [] : [`server = ${options.server}`];
  return [
    `The App ${app.slug} exists. Install it on your repositories: ${app.url}/installations/new`,
    'Add this section to gatehouse.conf and start the service again:',
    '',
    `[connection ${options.connection}]`,
    'driver = github',
    ...server,
    `app_id = ${app.id}`,
    `app_key = ${files.key}`,
    `webhook_token_file = ${files.webhookToken}`,
  ].join('\n');
}

/** @throws InvalidArgumentError */
function parseWebhookUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new InvalidArgumentError('It must be an address such as https://gate.example.org.');
  return url.href;
}

/** @throws InvalidArgumentError */
function parseName(text: string): string {
  if (text.trim() === '' || text.length > LONGEST_APP_NAME)
    throw new InvalidArgumentError(`It must be 1 to ${LONGEST_APP_NAME} characters long.`);
  return text;
}

/** @throws InvalidArgumentError */
function parseConnection(text: string): string {
  if (!/^[\w.-]+$/.test(text)) throw new InvalidArgumentError('It must be letters, digits, ".", "_" or "-".');
  return text;
}

/** @throws InvalidArgumentError */
function parseServer(text: string): string {
  if (!HOST.test(text)) throw new InvalidArgumentError('It must be a host name such as github.example.org.');
  return text;
}

/** @throws InvalidArgumentError */
function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535) throw new InvalidArgumentError('It must be 0 to 65535.');
  return port;
}
