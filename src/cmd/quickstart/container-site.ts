/**
 * The demo among containers (docker-compose.yml), where the service is elsewhere and repositories are a shared volume:
 *
 *     node src/cmd/quickstart/container-site.ts prepare      creates the repositories that do not exist yet
 *     node src/cmd/quickstart/container-site.ts demo         proposes six changes and follows them to their end
 *
 * Repositories are below `--repositories` (/srv/git), the developer's clones below `--clones` (/srv/developer); the
 * service is found at `--url` (http://web:9000). Hooks sign with $GATEHOUSE_WEBHOOK_TOKEN.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { Command } from 'commander';
import { installPostReceiveHook } from '../../../drivers/git/install-hook.ts';
import { createApi } from '../client/api.ts';
import { createScreen } from '../terminal/screen.ts';
import { CONNECTION } from './demo-files.ts';
import { runDemo } from './demo-run.ts';
import { createRepository } from './developer.ts';
import { gitHost } from './git-host.ts';
import { gateOutcomes, surprises } from './outcome.ts';
import { PROJECTS } from './prepare-site.ts';
import { summaryTable } from './summary.ts';

interface Options {
  readonly repositories: string;
  readonly clones: string;
  readonly url: string;
}

const program = new Command('container-site')
  .option('--repositories <dir>', 'bare repositories (the code host)', '/srv/git')
  .option('--clones <dir>', "the developer's clones", '/srv/developer')
  .option('--url <url>', 'the service', 'http://web:9000');
program.command('prepare').action(async () => prepare(program.opts()));
program.command('demo').action(async () => demo(program.opts()));
await program.parseAsync();

/** Existing repositories are unchanged. */
async function prepare(options: Options): Promise<void> {
  const token = process.env.GATEHOUSE_WEBHOOK_TOKEN ?? '';
  for (const [project, files] of PROJECTS) {
    const bare = bareOf(options, project);
    if (existsSync(bare)) continue;
    await createRepository(bare, path.join(options.clones, project), files);
    if (token === '') continue;
    const url = `${options.url}/api/connection/${CONNECTION}/payload`;
    await installPostReceiveHook(bare, { url, token, project });
  }
  process.stdout.write(`${options.repositories} holds ${PROJECTS.length} repositories\n`);
}

async function demo(options: Options): Promise<void> {
  const { url } = options;
  const host = gitHost({
    repositories: new Map(PROJECTS.map(([project]) => [project, bareOf(options, project)])),
    clone: project => path.join(options.clones, project),
  });
  const screen = createScreen(process.stdout);
  const api = createApi(url);
  const outcomes = await gateOutcomes(api, host, await runDemo(host, api, screen));
  for (const line of ['', ...summaryTable(outcomes, screen)]) screen.line(line);
  const wrong = surprises(outcomes);
  for (const line of wrong) screen.line(line);
  process.exitCode = wrong.length === 0 ? 0 : 1;
}

function bareOf({ repositories }: Options, project: string): string {
  return path.join(repositories, `${project}.git`);
}
