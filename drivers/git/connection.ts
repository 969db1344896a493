/** Builds a git connection from its parts. */

import type { Connection, ConnectionDeps } from '../../src/driver/connection.ts';
import { createHostHealth } from '../../src/driver/host-health.ts';
import type { GitRemote } from '../../src/driver/remote.ts';
import { createGit } from '../../src/git/process/git.ts';
import { sshEnvironment } from '../../src/git/process/ssh.ts';
import { startAside } from '../../src/git/starter/start-aside.ts';
import { type ProjectKey, projectIdOf } from '../../src/model/project.ts';
import { publicRepositoryUrl } from '../../src/tracing/repository-url.ts';
import { NO_BRANCHES } from './branch-template.ts';
import { createLanding } from './landing.ts';
import { gitLanguages } from './languages.ts';
import { createListener, type Wait } from './listener.ts';
import { createCommitTexts } from './mirror-reads.ts';
import type { GitDriverOptions } from './options.ts';
import { projectUrl } from './project-url.ts';
import { openProjectGit } from './remote-git.ts';
import { createReporter } from './reporter.ts';
import { createSource } from './source.ts';
import { watchedGit } from './watched-git.ts';
import { createWebhook } from './webhook.ts';

/** Waiting and randomness, for tests to replace. */
export interface ListenerTiming {
  readonly wait: Wait;
  readonly random: () => number;
}

/** Opens nothing yet: a mirror is opened with the first request for its project. @param timing of the listener. */
export function createConnection(
  name: string,
  options: GitDriverOptions,
  deps: ConnectionDeps,
  timing: ListenerTiming,
): Connection {
  const { webhookToken, webhookRate, pollInterval } = options;
  const templates = options.templates ?? { proposals: NO_BRANCHES, approvals: NO_BRANCHES };
  const urlOf = (project: ProjectKey) => projectUrl(options.baseurl, projectIdOf(project).name);
  const access = accessOf(options);
  const publicUrl = (project: ProjectKey) => publicRepositoryUrl(urlOf(project));
  const remote: Connection['remote'] = async project => ({ url: urlOf(project), ...access });
  const git = createGit({ identity: READER, start: startAside });
  const health = createHostHealth(() => null);
  const { repositories } = deps;
  const texts = createCommitTexts();
  const openGit = onceEach(async (project: ProjectKey) =>
    watchedGit(
      project,
      await openProjectGit(project, { repositories, git, texts, remoteOf: remote }),
      health,
    ),
  );
  const { clock, log } = deps;
  const { canonicalHostname } = options;
  const secrets = webhookToken === undefined ? [] : [webhookToken];
  return {
    name,
    driver: gitLanguages.name,
    canonicalHostname,
    remote,
    publicUrl,
    source: createSource({
      connection: name,
      canonicalHostname,
      publicUrl,
      clock,
      templates,
      openGit,
      health,
      announces: webhookToken !== undefined,
      readOnly: options.templates === undefined,
    }),
    listener: createListener({ log, openGit, pollInterval, ...timing }),
    ...(options.templates === undefined
      ? { readOnly: true }
      : {
          reporter: createReporter({ log, openGit, secrets }),
          landing: createLanding({ templates, openGit, secrets }),
        }),
    ...(webhookToken === undefined ? {} : { webhook: createWebhook(webhookToken, webhookRate) }),
    health,
    // The caller closes the mirrors, and nothing else is open.
    close: () => Promise.resolve(),
  };
}

/** Opened again only after it failed. */
function onceEach<T>(open: (project: ProjectKey) => Promise<T>): (project: ProjectKey) => Promise<T> {
  const opened = new Map<ProjectKey, Promise<T>>();
  return project => {
    const known = opened.get(project);
    if (known !== undefined) return known;
    const opening = open(project);
    opened.set(project, opening);
    opening.catch(() => opened.delete(project));
    return opening;
  };
}

/** Identity of a git that only reads; commits and notes carry that of the repository cache. */
const READER = { name: 'Gatehouse', email: 'gatehouse@localhost' };

/** Credentials: the same for all projects, to read and to write. */
function accessOf(options: GitDriverOptions): Omit<GitRemote, 'url'> {
  const { httpUser, httpPassword, sshKey: keyFile, sshKnownHosts: knownHostsFile } = options;
  const isDefault = keyFile === undefined && knownHostsFile === undefined;
  const environment = isDefault ? {} : sshEnvironment({ keyFile, knownHostsFile });
  if (httpPassword === undefined) return { environment };
  const credentials = Buffer.from(`${httpUser}:${httpPassword.reveal()}`).toString('base64');
  return { environment, headers: [`Authorization: Basic ${credentials}`] };
}
