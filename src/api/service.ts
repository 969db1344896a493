/** The smaller documents about the service, a tenant and its configuration, under Zuul's names if Zuul has them. */

import { toMilliseconds } from '../lib/clock.ts';
import { type ConfigError, configErrorText } from '../model/config-error.ts';
import type { Decision } from '../model/decision.ts';
import { projectIdOf } from '../model/project.ts';
import {
  byName,
  type Document,
  document,
  flag,
  json,
  list,
  nanoseconds,
  nullable,
  oneOf,
  optional,
  text,
  uuid,
  whole,
} from './schema.ts';
import type { TenantSnapshot } from './tenant-snapshot.ts';

/** Body of every answer with a status of 400 or more, except for OTLP. */
export const refusalSchema = document({
  error: text('The problem and its remedy'),
  description: text("The same, for Zuul's clients"),
  place: text('The part of the request at fault'),
});

/** `GET /api`: paths by name. */
export const indexSchema = byName(text('Path'), 'Paths by name');

/** `GET /api/info` and `…/tenant/<t>/info`, as Zuul's clients read it. */
export const infoSchema = document({
  info: document({
    capabilities: document({
      job_history: flag(),
      auth: document({
        realms: byName(
          document({
            authority: text(),
            client_id: text(),
            type: text(),
            driver: text(),
            scope: optional(text('Of `OpenIDConnect`: what to ask for when signing in')),
            load_user_info: optional(
              flag('Of `OpenIDConnect`: the client may ask the issuer about the user'),
            ),
          }),
          'Token issuers by realm',
        ),
        default_realm: nullable(text()),
        read_protected: flag(),
      }),
    }),
    stats: document({ url: nullable(text()), type: text(), prefix: nullable(text()) }),
    websocket_url: nullable(text()),
    tenant: optional(text()),
  }),
  gatehouse: document({ version: text(), tracing: flag('Spans are exported') }),
});
/** `info.tenant` is absent in the document of the whole service; the rest is the same. */
export type InfoDocument = Document<typeof infoSchema>;

/** `GET /api/authorizations` and `…/tenant/<t>/authorizations`, as Zuul's: what the bearer of the token may do. */
export const authorizationsSchema = document({
  zuul: document({
    admin: flag('May operate the tenant, or every tenant'),
    permissions: document({ admin: optional(flag()) }, 'Of Zuul 14: `admin` is there, and true, or absent'),
    scope: list(text(), 'The tenant; `*`: the installation'),
  }),
});
/** Of one caller: never kept by a cache. */
export type AuthorizationsDocument = Document<typeof authorizationsSchema>;

/** `GET /api/tenants`. */
export const tenantsSchema = list(
  document({ name: text(), projects: whole(), queue: whole('Live items in its pipelines') }),
);
/** Tenants whose layout this web has read: none right after the start. `projects` counts untrusted ones only. */
export type TenantsDocument = Document<typeof tenantsSchema>;

/** `GET …/pipelines`, in the layout's order. */
export const pipelinesSchema = list(
  document({
    name: text(),
    manager: text(),
    triggers: list(document({ name: text(), driver: nullable(text()) })),
  }),
);
/** A trigger is named after its connection; `driver` is null for a connection that this web does not know. */
export type PipelinesDocument = Document<typeof pipelinesSchema>;

/** `GET …/projects`, by name. */
export const projectsSchema = list(
  document({
    name: text(),
    connection_name: text(),
    canonical_name: text(),
    type: oneOf(['config', 'untrusted']),
  }),
);

/** Read by the list of projects. */
export type ProjectsDocument = Document<typeof projectsSchema>;

/** `GET …/config-errors`: errors and warnings of the current configuration. */
export const configErrorsSchema = list(
  document({
    source_context: document({ project: nullable(text()), branch: nullable(text()), path: text() }),
    error: text(),
    short_error: text('Code'),
    severity: oneOf(['error', 'warning']),
    name: text('Code'),
    gatehouse: document({ line: nullable(whole()), column: nullable(whole()), text: text() }),
  }),
);

/** `GET …/system-events`: the newest only, of which the time is stored. */
export const systemEventsSchema = list(
  document({
    event_id: nullable(text(), 'Not known'),
    event_time: text('UTC to the second, without a zone'),
    event_type: oneOf(['tenant reconfiguration']),
    description: text(),
  }),
);

/** `GET …/tenant-status`, which Zuul's page asks for its bell. */
export const tenantStatusSchema = document({ config_error_count: whole('Errors and warnings') });

/** Empty: the configuration has neither errors nor warnings. */
export type ConfigErrorsDocument = Document<typeof configErrorsSchema>;

/** `GET …/changes/<change>/decisions`: decisions about one change, oldest first. */
export const decisionsSchema = document({
  change: text(),
  decisions: list(
    document({
      at: nanoseconds('Nanoseconds since the epoch'),
      code: text('A decision code of decisions-and-results.md'),
      tenant: text(),
      pipeline: nullable(text()),
      project: text(),
      change: text(),
      changeText: text('For people'),
      item: nullable(uuid()),
      event: nullable(uuid()),
      text: text('A sentence without a full stop'),
    }),
  ),
});

/** The history's decisions as they are: the compiler checks that their type fits the schema. */
export type DecisionsDocument = Document<typeof decisionsSchema>;

/** `GET /health/ready`, with status 200 or 503; `reason` says why a component is not ready. */
export const healthSchema = document({
  status: oneOf(['ready', 'not ready']),
  components: list(document({ component: text(), ready: flag(), reason: optional(text()) })),
});
/** `GET /health/live`. */
export const aliveSchema = document({ status: oneOf(['alive']), version: text() });
/** `GET …/item/<uuid>/trace`: OTLP/JSON, specified by OpenTelemetry. */
export const traceSchema = document({ resourceSpans: list(json()) });

/** Encodes configuration errors in the given order, and behind them what code hosts refuse. */
export function configErrorsDocument({
  configErrors,
  hostFaults,
}: Pick<TenantSnapshot, 'configErrors' | 'hostFaults'>): ConfigErrorsDocument {
  return [...configErrors.map(configErrorDocument), ...hostFaults.map(hostFaultDocument)];
}

/** Which errors are asked for; undefined: any. */
interface ErrorFilter {
  readonly project: string | undefined;
  readonly branch: string | undefined;
  readonly severity: string | undefined;
  readonly name: string | undefined;
  readonly limit: number | undefined;
  readonly skip: number;
}

/** Zuul's filter, in the given order. */
export function configErrorsPage(all: ConfigErrorsDocument, filter: ErrorFilter): ConfigErrorsDocument {
  const { project, branch, severity, name, limit, skip } = filter;
  const fits = (wanted: string | undefined, given: string | null) => wanted === undefined || wanted === given;
  return all
    .filter(
      each =>
        fits(project, each.source_context.project) &&
        fits(branch, each.source_context.branch) &&
        fits(severity, each.severity) &&
        fits(name, each.name),
    )
    .slice(skip, limit === undefined ? undefined : skip + limit);
}

function configErrorDocument(error: ConfigError): ConfigErrorsDocument[number] {
  return {
    source_context: {
      project: error.project === undefined ? null : projectIdOf(error.project).name,
      branch: error.branch ?? null,
      path: error.file,
    },
    error: configErrorText(error),
    short_error: error.code,
    severity: error.severity,
    name: error.code,
    gatehouse: { line: error.line, column: error.column, text: error.text },
  };
}

function hostFaultDocument({
  connection,
  project,
  severity,
  text,
}: TenantSnapshot['hostFaults'][number]): ConfigErrorsDocument[number] {
  const path = `connection ${connection}`;
  return {
    source_context: { project, branch: null, path },
    error: `${path}: ${text}`,
    short_error: 'refused-by-host',
    severity,
    name: 'refused-by-host',
    gatehouse: { line: null, column: null, text },
  };
}

/** Encodes the last reconfiguration. */
export function systemEventsDocument({
  reconfiguredAt,
}: Pick<TenantSnapshot, 'reconfiguredAt'>): Document<typeof systemEventsSchema> {
  const time = new Date(toMilliseconds(reconfiguredAt)).toISOString().slice(0, 19);
  const description = 'The configuration in force was read';
  return [{ event_id: null, event_time: time, event_type: 'tenant reconfiguration', description }];
}

/** Encodes a tenant's projects, by name. */
export function projectsDocument({ projects }: TenantSnapshot): ProjectsDocument {
  return projects
    .map(({ project, canonicalName, trusted }) => ({
      name: projectIdOf(project).name,
      connection_name: projectIdOf(project).connection,
      canonical_name: canonicalName,
      type: trusted ? ('config' as const) : ('untrusted' as const),
    }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Encodes decisions about a change. @param decisions oldest first. */
export function decisionsDocument(change: string, decisions: readonly Decision[]): DecisionsDocument {
  return { change, decisions };
}
