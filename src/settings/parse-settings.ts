/**
 * `gatehouse.conf` → {@link Settings}, or all of its errors.
 *
 *     const parsed = parseSettings({ content, file: 'etc/gatehouse.conf', directory: '/srv/etc', environment: process.env });
 *     switch (parsed.kind) {
 *       case 'settings': …parsed.settings
 *       case 'invalid': parsed.problems.map(showOptionProblem)
 *         // etc/gatehouse.conf:7: [web] prot: unknown option, did you mean "port"?
 *     }
 *
 * Order: INI text (ini-file.ts) → Zuul's names (translate-zuul.ts) → environment variables (interpolate.ts) → typed sections (read-sections.ts). Pure.
 */
import { didYouMean } from '../lib/nearest-name.ts';
import {
  type OptionProblem,
  type OptionReader,
  type OptionSection,
  optionReader,
} from '../lib/option-reader.ts';
import { isAuth, readAuth } from './auth-section.ts';
import { parseConnection } from './connection-section.ts';
import { readHistory } from './history-section.ts';
import { type IniSection, parseIni } from './ini-file.ts';
import { type Environment, interpolate } from './interpolate.ts';
import { readKeystore } from './keystore-section.ts';
import { readLogStore } from './log-store-section.ts';
import { readMetrics } from './metrics-section.ts';
import { readNodes } from './nodes-section.ts';
import { isNotify, readNotify } from './notify-section.ts';
import { RawOption } from './raw-option.ts';
import {
  readDatabase,
  readExecutor,
  readLog,
  readMerger,
  readScheduler,
  readStore,
  readWeb,
} from './read-sections.ts';
import { concerns } from './section-filter.ts';
import type { ConnectionSection, Settings } from './settings.ts';
import { readTracing } from './tracing-settings.ts';
import { refusedNotes, translateZuul, zuulWarning } from './translate-zuul.ts';
import { exposedStore, readZooKeeper, refuseTwoStores } from './zookeeper-section.ts';

/** Everything the settings depend on: the same source gives the same settings. */
export interface SettingsSource {
  /** The file's bytes; each line must be UTF-8. */
  readonly content: Uint8Array;
  /** The name shown in problems. */
  readonly file: string;
  /** Absolute; relative paths in the file count from here. */
  readonly directory: string;
  readonly environment: Environment;
  /** From the command line: these win over the file. Section → option → value. */
  readonly overrides?: SettingOverrides;
}

/**
 * Section → option → value, as `read-settings.ts` takes them from a command. Nothing is substituted in a value; errors call an
 * option `--NAME`.
 */
export type SettingOverrides = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** All wanted sections, or every problem that concerns them: by line, those of environment variables last. */
export type ParsedSettings<Wanted extends keyof Settings = keyof Settings> =
  | {
      readonly kind: 'settings';
      readonly settings: Pick<Settings, Wanted>;
      /** Options whose secret value is in the file itself, see `read-settings.ts`. */
      readonly secretsInFile: readonly OptionProblem[];
      /** Warnings: options without effect, a store that is open to all. */
      readonly warnings: readonly OptionProblem[];
    }
  | { readonly kind: 'invalid'; readonly problems: readonly OptionProblem[] };

/** @param wanted names of the sections to read; errors in others are ignored. Default all. */
export function parseSettings<Wanted extends keyof Settings = keyof Settings>(
  { content, file, directory, environment, overrides = new Map() }: SettingsSource,
  wanted?: readonly Wanted[],
): ParsedSettings<Wanted> {
  const ini = parseIni(content, file);
  const zuul = translateZuul(ini.sections);
  const problems: OptionProblem[] = [...ini.problems, ...refusedNotes(zuul.notes, file)];
  const sections = new Map<string, OptionSection>();
  for (const section of zuul.sections.values()) {
    sections.set(section.name, {
      ...substituted(section, file, environment, problems),
      directory,
    });
  }

  const absentSection = (name: string): OptionSection => {
    return { name, at: { file, line: 0 }, options: new Map(), directory };
  };
  for (const [name, options] of overrides)
    sections.set(name, overridden(sections.get(name) ?? absentSection(name), options));

  function read<T>(name: string, body: (reader: OptionReader) => T): T {
    const reader = optionReader(sections.get(name) ?? absentSection(name));
    const value = body(reader);
    problems.push(...reader.finish());
    return value;
  }

  const zookeeper = sections.get('zookeeper');
  const alone = zookeeper === undefined;
  refuseTwoStores(sections, problems);
  const scheduler = read('scheduler', reader => readScheduler(reader, alone));
  const { stateDir } = scheduler;
  const {
    tracing,
    withoutEffect,
    problems: tracingProblems,
  } = readTracing(sections.get('tracing') ?? absentSection('tracing'), environment);
  problems.push(...tracingProblems);
  const store = alone
    ? read('store', reader => readStore(reader, stateDir))
    : read('zookeeper', reader => readZooKeeper(reader, zookeeper));
  const merger = read('merger', reader => readMerger(reader, stateDir));
  const settings: Settings = {
    scheduler,
    store,
    keystore: read('keystore', readKeystore),
    database: read('database', reader => readDatabase(reader, directory, stateDir)),
    history: read('history', readHistory),
    web: read('web', reader => readWeb(reader, stateDir)),
    merger,
    executor: read('executor', reader => readExecutor(reader, { stateDir, gitDir: merger.gitDir, alone })),
    logStore: read('log_store', readLogStore),
    nodes: read('nodes', readNodes),
    tracing,
    metrics: read('metrics', readMetrics),
    log: read('log', readLog),
    auth: readAuth(sections.values(), problems),
    notify: readNotify(sections.values(), problems),
    connections: readConnections(sections.values(), problems),
  };
  for (const section of sections.values()) refuseUnknownSection(section, problems);
  const isWanted = wanted === undefined ? undefined : new Set<keyof Settings>(wanted);
  const found = problems.filter(problem => isWanted === undefined || concerns(problem, isWanted));
  if (found.length > 0) return { kind: 'invalid', problems: inOrder(found) };
  const exposed = store.kind === 'zookeeper' && zookeeper !== undefined ? exposedStore(store, zookeeper) : [];
  return {
    kind: 'settings',
    settings,
    secretsInFile: secretsIn(sections.values()),
    warnings: [...zuulWarning(zuul.notes, file), ...exposed, ...withoutEffect],
  };
}

const SECTIONS = [
  'scheduler',
  'store',
  'zookeeper',
  'keystore',
  'database',
  'history',
  'web',
  'merger',
  'executor',
  'log_store',
  'nodes',
  'tracing',
  'metrics',
  'log',
];

function refuseUnknownSection({ name, at }: OptionSection, problems: OptionProblem[]): void {
  if (SECTIONS.includes(name) || isAuth(name) || isNotify(name) || isConnection(name)) return;
  const known = [...SECTIONS, 'auth', 'notify', 'connection'];
  const hint =
    didYouMean(name.split(/\s/)[0] ?? '', known) ||
    `; known here: ${SECTIONS.join(', ')}, auth NAME, notify NAME, connection NAME`;
  problems.push({ at, section: name, reason: `unknown section${hint}` });
}

function isConnection(name: string): boolean {
  return /^connection(\s|$)/.test(name);
}

function readConnections(
  sections: Iterable<OptionSection>,
  problems: OptionProblem[],
): readonly ConnectionSection[] {
  const connections = new Map<string, ConnectionSection>();
  for (const section of sections) {
    if (!isConnection(section.name)) continue;
    const parsed = parseConnection(section, connections);
    if (parsed.kind === 'connection') connections.set(parsed.connection.connection, parsed.connection);
    else problems.push(parsed.problem);
  }
  return [...connections.values()];
}

function substituted(
  section: IniSection,
  file: string,
  environment: Environment,
  problems: OptionProblem[],
): OptionSection {
  const options = new Map<string, RawOption>();
  for (const [option, { raw, line }] of section.options) {
    const at = { file, line };
    const value = interpolate(raw, environment);
    if (value.kind === 'invalid') problems.push({ at, section: section.name, option, reason: value.reason });
    const text = value.kind === 'text' ? value.text : raw;
    options.set(option, new RawOption(option, text, at, value.kind === 'text' && value.fromEnvironment));
  }
  return { name: section.name, at: { file, line: section.line }, options };
}

/** Shown in problems by the name the option has on the command line. */
function overridden(section: OptionSection, overrides: ReadonlyMap<string, string>): OptionSection {
  const options = new Map(section.options);
  for (const [option, value] of overrides)
    options.set(option, { value, at: { file: `--${option}`, line: 0 } });
  return { ...section, options };
}

function secretsIn(sections: Iterable<OptionSection>): readonly OptionProblem[] {
  const found: OptionProblem[] = [];
  for (const { name, options } of sections) {
    for (const [option, value] of options) {
      if (!(value instanceof RawOption) || !value.isSecretInFile) continue;
      found.push({ at: value.at, section: name, option, reason: 'holds a secret' });
    }
  }
  return found;
}

/** By line, environment variables last; one problem per place, since a bad value may also fail a later check. */
function inOrder(problems: readonly OptionProblem[]): readonly OptionProblem[] {
  const seen = new Set<string>();
  const rank = ({ at }: OptionProblem) => (at.file.startsWith('$') ? Number.POSITIVE_INFINITY : at.line);
  return problems
    .filter(({ at, section, option }) => {
      if (option === undefined || at.line === 0) return true;
      const place = `${at.line} ${section} ${option}`;
      return !seen.has(place) && seen.add(place);
    })
    .toSorted((a, b) => (rank(a) === rank(b) ? 0 : rank(a) - rank(b)));
}
