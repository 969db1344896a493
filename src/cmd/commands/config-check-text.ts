/**
 * The summary of a configuration on one screen: pure.
 *
 *     service      web       http://127.0.0.1:9000
 *                  tracing   off: no endpoint is named
 *     connections  local     git
 *     tenants      acme      1 config-project: local/acme/config
 *                            2 projects: local/acme/app, local/acme/api
 *                            3 pipelines: check (independent), gate (dependent), post (independent)
 */
import type { Paint } from '../../lib/ansi.ts';
import { printable, toWidth } from '../../lib/text-width.ts';
import { wrapWords } from '../terminal/wrap-text.ts';
import type { ConfigSummary, TenantSummary } from './config-summary.ts';

/** @property width in columns; longer lines are wrapped. */
export interface SummaryOptions {
  readonly width: number;
  readonly paint: Paint;
}

const TITLE_WIDTH = 13;
/** Names listed per kind; the rest is counted. */
const NAMES_SHOWN = 24;

interface Entry {
  readonly name: string;
  readonly lines: readonly string[];
}

/** Of many names of a kind the first 24 are listed and the others counted. */
export function summaryLines(summary: ConfigSummary, options: SummaryOptions): readonly string[] {
  const service = Object.entries(summary.service).map(([name, text]) => ({ name, lines: [text] }));
  const connections = summary.connections.map(({ name, driver }) => ({ name, lines: [driver] }));
  const tenants = summary.tenants.map(tenant => ({ name: tenant.name, lines: tenantLines(tenant) }));
  const sections = [
    { title: 'service', entries: service },
    { title: 'connections', entries: connections },
    { title: 'tenants', entries: tenants },
  ];
  const nameWidth =
    Math.min(24, Math.max(...sections.flatMap(({ entries }) => entries.map(({ name }) => name.length)), 4)) +
    2;
  return sections.flatMap(({ title, entries }) => sectionLines(title, entries, nameWidth, options));
}

function sectionLines(
  title: string,
  entries: readonly Entry[],
  nameWidth: number,
  { width, paint }: SummaryOptions,
): readonly string[] {
  if (entries.length === 0)
    return [`${paint(toWidth(title, TITLE_WIDTH), 'bold')}${paint('none that is valid', 'yellow')}`];
  return entries.flatMap(({ name, lines }, index) =>
    lines.flatMap((line, row) => {
      const head =
        index === 0 && row === 0 ? paint(toWidth(title, TITLE_WIDTH), 'bold') : ' '.repeat(TITLE_WIDTH);
      const second = row === 0 ? paint(toWidth(name, nameWidth), 'cyan') : ' '.repeat(nameWidth);
      return wrapWords(printable(line), head + second, width);
    }),
  );
}

function tenantLines({ configProjects, projects, layout }: TenantSummary): readonly string[] {
  const base = [counted('config-project', configProjects), counted('project', projects)];
  if (layout === undefined) return base;
  return [
    ...base,
    counted(
      'pipeline',
      layout.pipelines.map(({ name, manager }) => `${name} (${manager})`),
    ),
    counted('job', layout.jobs),
    ...(layout.queues.length === 0 ? [] : [counted('queue', layout.queues)]),
    ...(layout.idleProjects.length === 0 ? [] : [`in no pipeline: ${listed(layout.idleProjects)}`]),
  ];
}

function counted(noun: string, names: readonly string[]): string {
  if (names.length === 0) return `no ${noun}s`;
  return `${names.length} ${noun}${names.length === 1 ? '' : 's'}: ${listed(names)}`;
}

function listed(names: readonly string[]): string {
  const rest = names.length - NAMES_SHOWN;
  return `${names.slice(0, NAMES_SHOWN).join(', ')}${rest > 0 ? `, and ${rest} more` : ''}`;
}
