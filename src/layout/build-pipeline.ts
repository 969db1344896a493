/** A pipeline stanza and the drivers of the connections it names → a {@link Pipeline}, or its errors. */

import type { DriverConfigLanguage } from '../driver/driver.ts';
import type { ParseResult } from '../driver/parse-result.ts';
import { didYouMean } from '../lib/nearest-name.ts';
import type { ConfigError } from '../model/config-error.ts';
import type { Json } from '../model/job.ts';
import type { DriverConfig, Pipeline, ReportAction } from '../model/pipeline.ts';
import type { ConnectionName } from '../model/project.ts';
import { errorAt, placeText } from './config-place.ts';
import type { LayoutFile } from './layout.ts';
import type { DriverEntry, PipelineStanza } from './stanzas.ts';
import { jsonOf, nodeAt } from './yaml-node.ts';

/** The configuration language of each connection's driver. */
export type Languages = ReadonlyMap<ConnectionName, DriverConfigLanguage>;

/**
 * `broken`: an entry names an unknown connection, or its driver refuses it. The layout then lacks the pipeline, but not its name.
 */
export type BuiltPipeline =
  | { readonly kind: 'pipeline'; readonly pipeline: Pipeline; readonly warnings: readonly ConfigError[] }
  | { readonly kind: 'broken'; readonly errors: readonly [ConfigError, ...ConfigError[]] };

/** Connections that Zuul has without configuration. */
const BUILT_IN_OF_ZUUL = ['timer', 'zuul', 'sql', 'sqlreporter'];

/**
 * Asks the driver of each connection to parse its triggers, requirements and reporters, and collects the problems of all of them.
 */
export function buildPipeline(stanza: PipelineStanza, file: LayoutFile, languages: Languages): BuiltPipeline {
  const errors: ConfigError[] = [];
  const warnings: ConfigError[] = [];

  function read(
    { connection, value }: DriverEntry,
    parse: (language: DriverConfigLanguage, value: Json) => ParseResult<Json>,
  ): readonly DriverConfig[] {
    const language = languages.get(connection.name);
    if (language === undefined) {
      errors.push(errorAt(file, connection.offset, ...unknownConnection(connection.name, languages)));
      return [];
    }
    const result = parse(language, jsonOf(value));
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
    (stanza.reporters[action] ?? []).flatMap(entry =>
      read(entry, (language, value) => language.parseReporter(value)),
    );
  const requirements = (entries: readonly DriverEntry[]) =>
    entries.flatMap(entry => read(entry, (language, value) => language.parseRequirement(value)));

  const failure = reporters('failure');
  const pipeline: Pipeline = {
    name: stanza.name,
    manager: stanza.manager,
    ...(stanza.description === undefined ? {} : { description: stanza.description }),
    precedence: stanza.precedence,
    postReview: stanza.postReview,
    triggers: stanza.triggers.flatMap(entry =>
      read(entry, (language, value) => language.parseTrigger(value)),
    ),
    require: requirements(stanza.require),
    reject: requirements(stanza.reject),
    reporters: {
      enqueue: reporters('enqueue'),
      start: reporters('start'),
      success: reporters('success'),
      failure,
      // As in Zuul, `failure` stands in for these two unless they are configured.
      'merge-conflict':
        stanza.reporters['merge-conflict'] === undefined ? failure : reporters('merge-conflict'),
      'config-error': stanza.reporters['config-error'] === undefined ? failure : reporters('config-error'),
      'no-jobs': reporters('no-jobs'),
      dequeue: reporters('dequeue'),
      disabled: reporters('disabled'),
    },
    messages: stanza.messages,
    window: stanza.window,
    supercedes: stanza.supercedes.map(({ name }) => name),
    dequeueOnNewPatchset: stanza.dequeueOnNewPatchset,
    allowOtherConnections: stanza.allowOtherConnections,
    ...switchesOf(stanza),
    ...(stanza.disableAfterConsecutiveFailures === undefined
      ? {}
      : { disableAfterConsecutiveFailures: stanza.disableAfterConsecutiveFailures }),
  };
  const [first, ...rest] = errors;
  return first === undefined
    ? { kind: 'pipeline', pipeline, warnings }
    : { kind: 'broken', errors: [first, ...rest] };
}

/** Those that are not as usual. */
function switchesOf({
  reuseResults,
  landsOneByOne,
}: PipelineStanza): Pick<Pipeline, 'reuseResults' | 'landsOneByOne'> {
  return {
    ...(reuseResults === undefined ? {} : { reuseResults }),
    ...(landsOneByOne === undefined ? {} : { landsOneByOne }),
  };
}

function unknownConnection(name: string, languages: Languages): [code: string, text: string] {
  if (BUILT_IN_OF_ZUUL.includes(name)) return ['not-supported', `"${name}" is not supported yet; remove it`];
  const hint =
    didYouMean(name, languages.keys()) || `; configured: ${[...languages.keys()].join(', ') || 'none'}`;
  return ['unknown-connection', `no connection is called "${name}"${hint}`];
}
