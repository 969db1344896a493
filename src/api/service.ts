/** What the service, a tenant and its configuration are: the smaller documents, under Zuul's names where Zuul has them. */

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

export const refusalSchema = document({
  error: text('What is wrong and what to do'),
  description: text("The same, for Zuul's clients"),
  place: text('The part of the request that is meant'),
});

export const indexSchema = byName(text('Path'), 'Paths by name');

export const infoSchema = document({
  info: document({
    capabilities: document({
      job_history: flag(),
      auth: document({
        realms: byName(
          document({ authority: text(), client_id: text(), type: text(), driver: text() }),
          'Where a token comes from',
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
export type InfoDocument = Document<typeof infoSchema>;

export const tenantsSchema = list(
  document({ name: text(), projects: whole(), queue: whole('Live items in its pipelines') }),
);
export type TenantsDocument = Document<typeof tenantsSchema>;

export const pipelinesSchema = list(
  document({
    name: text(),
    manager: text(),
    triggers: list(document({ name: text(), driver: nullable(text()) })),
  }),
);
export type PipelinesDocument = Document<typeof pipelinesSchema>;

export const projectsSchema = list(
  document({
    name: text(),
    connection_name: text(),
    canonical_name: text(),
    type: oneOf(['config', 'untrusted']),
  }),
);

export const jobsSchema = list(document({ name: text(), description: optional(text()) }));

export const configErrorsSchema = list(
  document({
    source_context: document({ project: nullable(text()), branch: nullable(text()), path: text() }),
    error: text(),
    short_error: text('Code'),
    severity: oneOf(['error', 'warning']),
    gatehouse: document({ line: nullable(whole()), column: nullable(whole()), text: text() }),
  }),
);

export type ConfigErrorsDocument = Document<typeof configErrorsSchema>;

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

export type DecisionsDocument = Document<typeof decisionsSchema>;

export const healthSchema = document({
  status: oneOf(['ready', 'not ready']),
  components: list(document({ component: text(), ready: flag(), reason: optional(text()) })),
});
export const aliveSchema = document({ status: oneOf(['alive']), version: text() });
/** OTLP's own JSON, described by OpenTelemetry. */
export const traceSchema = document({ resourceSpans: list(json()) });

export function configErrorsDocument(errors: readonly ConfigError[]): ConfigErrorsDocument {
  return errors.map(error => ({
    source_context: {
      project: error.project === undefined ? null : projectIdOf(error.project).name,
      branch: error.branch ?? null,
      path: error.file,
    },
    error: configErrorText(error),
    short_error: error.code,
    severity: error.severity,
    gatehouse: { line: error.line, column: error.column, text: error.text },
  }));
}

export function projectsDocument({ projects }: TenantSnapshot): Document<typeof projectsSchema> {
  return projects
    .map(({ project, canonicalName, trusted }) => ({
      name: projectIdOf(project).name,
      connection_name: projectIdOf(project).connection,
      canonical_name: canonicalName,
      type: trusted ? ('config' as const) : ('untrusted' as const),
    }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

export function jobsDocument({ jobs }: TenantSnapshot): Document<typeof jobsSchema> {
  return jobs.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

export function decisionsDocument(change: string, decisions: readonly Decision[]): DecisionsDocument {
  return { change, decisions };
}
