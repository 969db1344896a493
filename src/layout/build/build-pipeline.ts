/** A pipeline stanza and the drivers of the connections it names → a {@link Pipeline}, or its errors. */

import type { DriverConfigLanguage } from '../../driver/driver.ts';
import { didYouMean } from '../../lib/nearest-name.ts';
import type { ConfigError } from '../../model/config-error.ts';
import type { Tenant } from '../../model/layout.ts';
import type { DriverConfig, Pipeline, ReportAction } from '../../model/pipeline.ts';
import type { ConnectionName } from '../../model/project.ts';
import { errorAt, placeText } from '../model/config-place.ts';
import type { LayoutFile } from '../model/layout.ts';
import type { DriverEntry, PipelineStanza } from '../stanzas/stanzas.ts';
import { jsonOf, nodeAt } from '../yaml/yaml-node.ts';
import { parseTimerTrigger, TIMER } from './timer-trigger.ts';
import { parseZuulTrigger, ZUUL } from './zuul-trigger.ts';

/** The part of a driver's language that a layout needs. A connection without one of the parsers has no such thing. */
type Parsers = Partial<Pick<DriverConfigLanguage, 'parseTrigger' | 'parseRequirement' | 'parseReporter'>>;

/** The configuration language of each connection's driver. */
export type Languages = ReadonlyMap<ConnectionName, Parsers>;

/**
 * `broken`: an entry names an unknown connection, or its driver refuses it. The layout then lacks the pipeline, but not its name.
 */
export type BuiltPipeline =
  | { readonly kind: 'pipeline'; readonly pipeline: Pipeline; readonly warnings: readonly ConfigError[] }
  | { readonly kind: 'broken'; readonly errors: readonly [ConfigError, ...ConfigError[]] };

/** Connections that are there without a section. */
const BUILT_IN: Languages = new Map([
  [TIMER, { parseTrigger: parseTimerTrigger }],
  [ZUUL, { parseTrigger: parseZuulTrigger }],
]);

const NO_IMAGES =
  'reporter "zuul" has no effect: it keeps images that jobs build, and nothing here starts nodes';

/** Further ones that Zuul has. */
const BUILT_IN_OF_ZUUL = ['sql', 'sqlreporter'];

/**
 * Asks the driver of each connection to parse its triggers, requirements and reporters, and collects the problems of all of them.
 */
export function buildPipeline(
  stanza: PipelineStanza,
  file: LayoutFile,
  { languages, tenant }: { readonly languages: Languages; readonly tenant: Tenant },
): BuiltPipeline {
  const errors: ConfigError[] = [];
  const warnings: ConfigError[] = [];

  function read(
    { connection, value }: DriverEntry,
    what: keyof Parsers,
    key?: 'allowed-triggers' | 'allowed-reporters',
  ): readonly DriverConfig[] {
    if (connection.name === ZUUL && what === 'parseReporter') {
      warnings.push(errorAt(file, connection.offset, 'no-effect', NO_IMAGES, 'warning'));
      return [];
    }
    const forbidden = forbiddenIn(tenant, key, connection.name);
    const language = languages.get(connection.name) ?? BUILT_IN.get(connection.name);
    const parse = language?.[what];
    if (forbidden !== undefined || parse === undefined) {
      const refusal =
        forbidden ??
        (language === undefined
          ? unknownConnection(connection.name, languages)
          : lacksParser(connection.name, what));
      errors.push(errorAt(file, connection.offset, ...refusal));
      return [];
    }
    const result = parse(jsonOf(value));
    if (result.kind === 'ok') {
      for (const { path, code, text } of result.warnings ?? [])
        warnings.push(errorAt(file, nodeAt(value, path).offset, code, text, 'warning'));
      return [
        { connection: connection.name, config: result.value, definedAt: placeText(file, connection.offset) },
      ];
    }
    for (const { path, code, text } of result.problems)
      errors.push(errorAt(file, nodeAt(value, path).offset, code, text));
    return [];
  }

  const reporters = (action: ReportAction): readonly DriverConfig[] =>
    (stanza.reporters[action] ?? []).flatMap(entry => read(entry, 'parseReporter', 'allowed-reporters'));
  const requirements = (entries: readonly DriverEntry[]) =>
    entries.flatMap(entry => read(entry, 'parseRequirement'));

  const pipeline: Pipeline = {
    name: stanza.name,
    manager: stanza.manager,
    ...(stanza.description === undefined ? {} : { description: stanza.description }),
    precedence: stanza.precedence,
    postReview: stanza.postReview,
    triggers: stanza.triggers.flatMap(entry => read(entry, 'parseTrigger', 'allowed-triggers')),
    require: requirements(stanza.require),
    reject: requirements(stanza.reject),
    reporters: reportersOf(reporters),
    messages: stanza.messages,
    window: stanza.window,
    supercedes: stanza.supercedes.map(({ name }) => name),
    dequeueOnNewPatchset: stanza.dequeueOnNewPatchset,
    allowOtherConnections: stanza.allowOtherConnections,
    ...switchesOf(stanza),
  };
  const [first, ...rest] = errors;
  if (first !== undefined) return { kind: 'broken', errors: [first, ...rest] };
  return { kind: 'pipeline', pipeline, warnings };
}

function reportersOf(read: (action: ReportAction) => readonly DriverConfig[]): Pipeline['reporters'] {
  const failure = read('failure');
  // As in Zuul, `failure` stands in for two others where they name no reporter.
  const orFailure = (action: ReportAction) => {
    const own = read(action);
    return own.length === 0 ? failure : own;
  };
  return {
    failure,
    enqueue: read('enqueue'),
    start: read('start'),
    success: read('success'),
    'merge-conflict': orFailure('merge-conflict'),
    'config-error': orFailure('config-error'),
    'no-jobs': read('no-jobs'),
    dequeue: read('dequeue'),
    disabled: read('disabled'),
  };
}

/** Those that are not as usual. */
function switchesOf({
  ignoresDependencies,
  reuseResults,
  landsOneByOne,
  disableAfterConsecutiveFailures: disableAfter,
}: PipelineStanza): Pick<
  Pipeline,
  'ignoresDependencies' | 'reuseResults' | 'landsOneByOne' | 'disableAfterConsecutiveFailures'
> {
  return {
    ...(ignoresDependencies === undefined ? {} : { ignoresDependencies }),
    ...(reuseResults === undefined ? {} : { reuseResults }),
    ...(landsOneByOne === undefined ? {} : { landsOneByOne }),
    ...(disableAfter === undefined ? {} : { disableAfterConsecutiveFailures: disableAfter }),
  };
}

/** Why a pipeline of the tenant may not name the connection there; undefined: it may. */
function forbiddenIn(
  { name, allowedTriggers, allowedReporters }: Tenant,
  key: 'allowed-triggers' | 'allowed-reporters' | undefined,
  connection: ConnectionName,
): [code: string, text: string] | undefined {
  if (key === undefined) return undefined;
  const allowed = key === 'allowed-triggers' ? allowedTriggers : allowedReporters;
  if (allowed === undefined || allowed.includes(connection)) return undefined;
  const listed = allowed.length === 0 ? 'none' : allowed.join(', ');
  return [
    'not-permitted',
    `tenant ${name} does not allow connection "${connection}" here (${key}: ${listed})`,
  ];
}

const PARSED = { parseTrigger: 'a trigger', parseRequirement: 'a requirement', parseReporter: 'a reporter' };

function lacksParser(name: string, what: keyof Parsers): [code: string, text: string] {
  return ['wrong-connection', `connection "${name}" cannot be ${PARSED[what]}`];
}

function unknownConnection(name: string, languages: Languages): [code: string, text: string] {
  if (BUILT_IN_OF_ZUUL.includes(name)) return ['not-supported', `"${name}" is not supported yet; remove it`];
  const hint =
    didYouMean(name, languages.keys()) || `; configured: ${[...languages.keys()].join(', ') || 'none'}`;
  return ['unknown-connection', `no connection is called "${name}"${hint}`];
}
