/** Builds a GitHub connection from its parts. */
import type { Connection, ConnectionDeps } from '../../src/driver/connection.ts';
import { createHostHealth, type HostHealth } from '../../src/driver/host-health.ts';
import { parsedBefore } from '../../src/driver/read-mapping.ts';
import type { Nanoseconds } from '../../src/lib/clock.ts';
import { pause } from '../../src/lib/pause.ts';
import type { ConnectionEvent } from '../../src/model/event.ts';
import { projectIdOf, projectKey } from '../../src/model/project.ts';
import { type ClientDeps, type OpenClient, openClient } from './api/open-client.ts';
import { createGithubWebhook } from './intake/webhook.ts';
import { createGithubLanding } from './landing/github-landing.ts';
import { createOwnLandings } from './landing/own-landings.ts';
import { parseGithubReporter } from './language/reporter-config.ts';
import { githubLanguages } from './languages.ts';
import { createGithubOnlineCheck } from './online/check-online.ts';
import type { GithubOptions } from './options.ts';
import { branchesByGit } from './reading/branches-by-git.ts';
import { createGithubSource } from './reading/github-source.ts';
import { pullMergeMessage } from './reading/pull-merge-message.ts';
import { borrowsAccess, createGithubRemote } from './remote.ts';
import { createGithubAnswerer } from './reporting/answer-comment.ts';
import { createGithubReporter, createReportMemories } from './reporting/github-reporter.ts';
import { repositoryNames } from './repository-names.ts';
import type { RepeatCounts } from './sweep/deliveries.ts';
import { createGithubSweep, SWEEP_EVENT } from './sweep/sweep.ts';
import { createGithubUsage, type GithubUsage } from './usage.ts';

/** Contacts nothing yet. */
export function createGithubConnection(
  name: string,
  options: GithubOptions,
  { clock, log, repositories }: ConnectionDeps,
): Connection {
  const { canonicalHostname, server } = options;
  const lifetime = new AbortController();
  const health: HostHealth = createHostHealth(() => client.limitedUntil());
  const usage: GithubUsage = createGithubUsage(() => client.budgets());
  const client: OpenClient = clientOf(
    name,
    options,
    { clock, log },
    { noted: health.noted, asked: usage.asked },
  );
  const { api, credentials } = client;
  const named = repositoryNames(health, log);
  const remote = createGithubRemote(options, credentials, lifetime.signal);
  const memories = createReportMemories(clock);
  const own = createOwnLandings();
  const reporting = { api, log, wordsOf: reporterWords };
  const open = (project: Parameters<Connection['remote']>[0]) =>
    repositories.repository(name, projectIdOf(project).name);
  const git = { open, remoteOf: remote };
  const listBranches = branchesByGit(git);
  const deliveries = noteDeliveries(health);
  const reading = { api, clock, named };
  return {
    name,
    driver: githubLanguages.name,
    canonicalHostname,
    landsBy: options.landing,
    ...(borrowsAccess(options) ? { borrowsAccess: true } : {}),
    remote,
    publicUrl: project => `${options.cloneUrl}/${projectIdOf(project).name}`,
    source: createGithubSource({
      ...reading,
      ...{ connection: name, canonicalHostname, webHost: server, readsAdmins: options.adminReviews },
      lifetime: lifetime.signal,
      branchesByGit: listBranches,
      installationsChanged: () => credentials.forget(),
      ...deliveries.source,
      own,
      commentsRead: memories.known.read,
    }),
    listener: createGithubSweep({
      ...reading,
      log,
      interval: options.sweepInterval * 1000,
      ...deliveries.sweep,
      wait: pause,
      closed: usage.closed,
      listBranches: repository => listBranches(projectKey({ connection: name, name: repository })),
    }),
    reporter: createGithubReporter(reporting, memories),
    landing: createGithubLanding(
      {
        ...{ ...reporting, clock, git, mode: options.landing },
        messageOf: pullMergeMessage,
      },
      memories,
      own,
    ),
    answerer: createGithubAnswerer({ api, known: memories.known }),
    ...webhookOf(options),
    health,
    usage,
    checkOnline: createGithubOnlineCheck(name, options, { api, clock, wait: pause }),
    async close() {
      lifetime.abort(new Error('the connection is closed'));
      client.close();
    },
  };
}

function noteDeliveries(health: HostHealth) {
  let last: Nanoseconds | null = null;
  const repeats: RepeatCounts = new Map();
  return {
    sweep: { lastDeliveryAt: () => last, repeats },
    source: {
      wasRepeated: (id: string) => repeats.has(id),
      onProcessed({ type, receivedAt }: ConnectionEvent, hasNews: boolean) {
        const isSwept = type === SWEEP_EVENT;
        health.processed(receivedAt, isSwept && hasNews);
        if (!isSwept) last = receivedAt;
      },
    },
  };
}

function clientOf(
  connection: string,
  { apiUrl, identification, concurrency }: GithubOptions,
  { clock, log }: Pick<ConnectionDeps, 'clock' | 'log'>,
  watchers: Pick<ClientDeps, 'noted' | 'asked'>,
): OpenClient {
  return openClient(
    { connection, apiUrl, identification, concurrency },
    { clock, pause, random: Math.random, warn: text => log.warn({}, text), ...watchers },
  );
}

function reporterWords(config: Parameters<typeof parseGithubReporter>[0]) {
  return parsedBefore(parseGithubReporter(config));
}

function webhookOf({
  webhookTokens,
  webhookRate,
  identification,
}: GithubOptions): Pick<Connection, 'webhook'> {
  const [present, ...previous] = webhookTokens;
  if (present === undefined) return {};
  return {
    webhook: createGithubWebhook({
      secrets: [present, ...previous],
      ratePerSecond: webhookRate,
      appId: identification.kind === 'token' ? null : identification.id,
    }),
  };
}
