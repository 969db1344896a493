/** Builds a Gerrit connection from its parts. */
import type { Connection, ConnectionDeps } from '../../src/driver/connection.ts';
import { createHostHealth, type HostHealth } from '../../src/driver/host-health.ts';
import { pause } from '../../src/lib/pause.ts';
import { projectIdOf } from '../../src/model/project.ts';
import { type OpenGerritClient, openGerritClient } from './api/open-client.ts';
import { createGerritWebhook } from './intake/webhook.ts';
import { createGerritLanding } from './landing/gerrit-landing.ts';
import { createGerritListener } from './listener/gerrit-listener.ts';
import { isChangeRemembered } from './listener/is-remembered.ts';
import { createGerritOnlineCheck } from './online/check-online.ts';
import type { GerritOptions } from './options.ts';
import { createChangeReader } from './reading/change-reader.ts';
import { createGerritSource } from './reading/gerrit-source.ts';
import { GERRIT_DRIVER_NAME } from './reading/trigger-event.ts';
import { createGerritRemote, gerritPublicUrl } from './remote.ts';
import { createGerritAnswerer } from './reporting/answer-message.ts';
import { createGerritReporter } from './reporting/gerrit-reporter.ts';
import { createOwnAccount } from './reporting/own-account.ts';
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
  const client: OpenGerritClient = openGerritClient(options, {
    connection: name,
    ...{ clock, pause },
    noted: health.noted,
    asked: usage.asked,
  });
  const { api } = client;
  const reader = createChangeReader({ api, clock });
  const ourselves = createOwnAccount(api);
  const remote = createGerritRemote(options);
  const reporting = { api, log, ourselves };
  return {
    name,
    driver: GERRIT_DRIVER_NAME,
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
    }),
    reporter: createGerritReporter(reporting),
    landing: createGerritLanding({
      ...reporting,
      ...{ clock, wait: pause },
      git: { open: project => repositories.repository(name, projectIdOf(project).name), remoteOf: remote },
    }),
    answerer: createGerritAnswerer(reporting),
    ...webhookOf(options),
    health,
    usage,
    checkOnline: createGerritOnlineCheck(options, { api, clock, wait: pause }),
    async close() {
      client.close();
    },
  };
}

function webhookOf({ webhookTokens, webhookRate }: GerritOptions): Pick<Connection, 'webhook'> {
  const [present, ...previous] = webhookTokens;
  if (present === undefined) return {};
  return { webhook: createGerritWebhook({ tokens: [present, ...previous], ratePerSecond: webhookRate }) };
}
