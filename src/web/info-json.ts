/** What a client has to know of the service, and where its users sign in, in Zuul's fields. */
import type { InfoDocument } from '../api/service.ts';
import { defaultRealm } from './auth/challenge.ts';
import type { WebDeps } from './deps.ts';

/** @param tenant null: of the service as a whole. */
export function infoJson(deps: WebDeps, tenant: string | null): InfoDocument {
  return {
    info: {
      capabilities: { job_history: true, auth: authJson(deps.auth, tenant) },
      stats: { url: null, type: 'graphite', prefix: null },
      websocket_url: null,
      ...(tenant === null ? {} : { tenant }),
    },
    gatehouse: { version: deps.version, tracing: deps.traceUi() !== null },
  };
}

/** Realms and their token issuers, as Zuul's clients read them. */
function authJson(
  { realms, rules }: WebDeps['auth'],
  tenant: string | null,
): InfoDocument['info']['capabilities']['auth'] {
  const { realm: wanted, accessRules = [] } =
    (tenant === null ? rules.ofRoot() : rules.ofTenant(tenant)) ?? {};
  const sections = realms.map(({ settings }) => settings);
  return {
    realms: Object.fromEntries(
      sections.map(({ realm, authority, clientId, key }) => [
        realm,
        {
          authority,
          client_id: clientId,
          type: 'JWT',
          driver: key.kind,
          ...(key.kind === 'OpenIDConnect' ? { scope: key.scope, load_user_info: key.loadUserInfo } : {}),
        },
      ]),
    ),
    default_realm: sections.find(({ realm }) => realm === wanted)?.realm ?? defaultRealm(sections) ?? null,
    read_protected: accessRules.length > 0,
  };
}
