/** Builds a Gerrit connection from its parts. */
import assert from 'node:assert/strict';
import type { Connection, ConnectionDeps } from '../../src/driver/connection.ts';
import { createHostHealth, type HostHealth } from '../../src/driver/host-health.ts';
import { pause } from '../../src/lib/pause.ts';
import { type ProjectKey, projectIdOf, projectKey } from '../../src/model/project.ts';
import type { GerritBounds, GerritCarrier } from './api/carrier.ts';
import { type OpenGerritClient, openGerritClient } from './api/open-client.ts';
import { createPatchsetNames } from './api/ssh/patchset-names.ts';
import type { SshCarrierDeps } from './api/ssh/ssh-asked.ts';
import { createSshCarrier } from './api/ssh/ssh-carrier.ts';
import { createGerritWebhook } from './intake/webhook.ts';
import { createGerritLanding } from './landing/gerrit-landing.ts';
import { gerritLanguages } from './languages.ts';
import { createGerritListener } from './listener/gerrit-listener.ts';
import { isChangeRemembered } from './listener/is-remembered.ts';
import { noteStream, noteTopics, noteVotes } from './noted-faults.ts';
import { createGerritOnlineCheck } from './online/check-online.ts';
import type { GerritOptions, SshAuth } from './options.ts';
import { createChangeReader } from './reading/change-reader.ts';
import { createGerritSource } from './reading/gerrit-source.ts';
import { createGerritRemote, gerritPublicUrl } from './remote.ts';
import { createGerritAnswerer } from './reporting/answer-message.ts';
import { createGerritReporter } from './reporting/gerrit-reporter.ts';
import { createOwnAccount } from './reporting/own-account.ts';
import { fileOfThisMachine, sshPlace } from './ssh/ssh-place.ts';
import { createSshSession, type SshSession } from './ssh/ssh-session.ts';
import { uploadPackOf } from './ssh/upload-pack.ts';
import { createGerritUsage } from './usage.ts';

/** Contacts nothing yet. */
export function createGerritConnection(
  name: string,
  options: GerritOptions,
  { clock, log, repositories }: ConnectionDeps,
): Connection {
  const { canonicalHostname, baseUrl, server } = options;
  const usage = createGerritUsage();
  const health: HostHealth = createHostHealth(() => null);
  const reading = sshReadingOf(options);
  const remote = createGerritRemote(options, project => reading && uploadPackOf(reading, project));
  const repositoryOf = (project: ProjectKey) => repositories.repository(name, projectIdOf(project).name);
  const client: OpenGerritClient = openGerritClient(options, {
    connection: name,
    ...{ clock, pause },
    noted: health.noted,
    asked: usage.asked,
    overSsh: (auth, bounds) =>
      sshCarrierOf(options, auth, bounds, async (project, prefixes) => {
        const key = projectKey({ connection: name, name: project });
        return (await repositoryOf(key)).lsRemote(await remote(key, 'read'), prefixes);
      }),
  });
  const { api } = client;
  const reader = createChangeReader({ api, clock, notedTopics: noteTopics(health) });
  const ourselves = createOwnAccount(api);
  const reporting = { api, log, ourselves, answered: noteVotes(health) };
  return {
    name,
    driver: gerritLanguages.name,
    canonicalHostname,
    landsBy: 'api',
    remote: async (project, use) => remote(project, use),
    publicUrl: gerritPublicUrl(options),
    source: createGerritSource({
      ...{ api, reader, clock, connection: name, canonicalHostname, baseUrl, server },
      onProcessed: ({ receivedAt, type }, hasNews) =>
        health.processed(receivedAt, hasNews && (type === 'catch-up' || type === 'poll')),
    }),
    listener: createGerritListener({
      ...{ options, api, reader, clock, log },
      ...{ isRemembered: isChangeRemembered, wait: pause, random: Math.random },
      ...(options.streams ? { noted: noteStream(usage, health) } : {}),
    }),
    reporter: createGerritReporter(reporting),
    landing: createGerritLanding({
      ...reporting,
      ...{ clock, wait: pause },
      git: { open: repositoryOf, remoteOf: remote },
    }),
    answerer: createGerritAnswerer(reporting),
    ...webhookOf(options),
    health,
    usage,
    checkOnline: createGerritOnlineCheck(options, { api, clock, wait: pause }),
    async close() {
      client.close();
      reading?.close();
    },
  };
}

function sshCarrierOf(
  options: GerritOptions,
  { submitsWholeTopic }: SshAuth,
  { deadlinesMs, mostBytes }: GerritBounds,
  listRefs: SshCarrierDeps['listRefs'],
): GerritCarrier {
  const place = sshPlace(options);
  assert(place !== undefined, 'SSH alone has a key');
  return createSshCarrier({
    session: createSshSession({ place, readFile: fileOfThisMachine, mostBytes }),
    patchsets: createPatchsetNames(),
    username: place.user,
    ...{ listRefs, submitsWholeTopic, deadlinesMs, pause },
  });
}

/** Of one answer about objects. What is larger is git's. */
const MOST_READ = 4 * 1024 * 1024;

/** For git's reads, beside what asks Gerrit: neither waits for the other's answers. Opened with the first one. */
function sshReadingOf(options: GerritOptions): SshSession | undefined {
  const place = sshPlace(options);
  return place && createSshSession({ place, readFile: fileOfThisMachine, mostBytes: MOST_READ });
}

function webhookOf({ webhookTokens, webhookRate }: GerritOptions): Pick<Connection, 'webhook'> {
  const [present, ...previous] = webhookTokens;
  if (present === undefined) return {};
  return { webhook: createGerritWebhook({ tokens: [present, ...previous], ratePerSecond: webhookRate }) };
}
