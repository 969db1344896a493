/** A pipeline item and the drivers of the connections it names → a {@link Pipeline}, or what is wrong with it. */

import type { DriverConfigLanguage } from '../driver/driver.ts';
import type { ParseResult } from '../driver/parse-result.ts';
import { didYouMean } from '../lib/nearest-name.ts';
import type { ConfigError } from '../model/config-error.ts';
import type { Json } from '../model/job.ts';
import type { DriverConfig, Pipeline, ReportAction } from '../model/pipeline.ts';
import type { ConnectionName } from '../model/project.ts';
import { errorAt, placeText } from './config-place.ts';
import type { DriverEntry, PipelineItem } from './items.ts';
import type { LayoutFile } from './layout.ts';
import { jsonOf, nodeAt } from './yaml-node.ts';

/** What each connection of the installation understands. */
export type Languages = ReadonlyMap<ConnectionName, DriverConfigLanguage>;

export type BuiltPipeline =
  | { readonly kind: 'pipeline'; readonly pipeline: Pipeline }
  | { readonly kind: 'broken'; readonly errors: readonly [ConfigError, ...ConfigError[]] };

/** Connections every Zuul has without a section of their own. */
const BUILT_IN_OF_ZUUL = ['timer', 'zuul', 'sql', 'sqlreporter'];

export function buildPipeline(item: PipelineItem, file: LayoutFile, languages: Languages): BuiltPipeline {
  const errors: ConfigError[] = [];

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
      return [
        { connection: connection.name, config: result.value, definedAt: placeText(file, connection.offset) },
      ];
    }
    for (const { path, code, text } of result.problems)
      errors.push(errorAt(file, nodeAt(value, path).offset, code, text));
    return [];
  }

  const reporters = (action: ReportAction): readonly DriverConfig[] =>
    (item.reporters[action] ?? []).flatMap(entry =>
      read(entry, (language, value) => language.parseReporter(value)),
    );
  const requirements = (entries: readonly DriverEntry[]) =>
    entries.flatMap(entry => read(entry, (language, value) => language.parseRequirement(value)));

  const failure = reporters('failure');
  const pipeline: Pipeline = {
    name: item.name,
    manager: item.manager,
    ...(item.description === undefined ? {} : { description: item.description }),
    precedence: item.precedence,
    postReview: item.postReview,
    triggers: item.triggers.flatMap(entry => read(entry, (language, value) => language.parseTrigger(value))),
    require: requirements(item.require),
    reject: requirements(item.reject),
    reporters: {
      enqueue: reporters('enqueue'),
      start: reporters('start'),
      success: reporters('success'),
      failure,
      // As in Zuul, `failure` speaks for these two unless they are written.
      'merge-conflict':
        item.reporters['merge-conflict'] === undefined ? failure : reporters('merge-conflict'),
      'config-error': item.reporters['config-error'] === undefined ? failure : reporters('config-error'),
      'no-jobs': reporters('no-jobs'),
      dequeue: reporters('dequeue'),
      disabled: reporters('disabled'),
    },
    messages: item.messages,
    window: item.window,
    supercedes: item.supercedes.map(({ name }) => name),
    dequeueOnNewPatchset: item.dequeueOnNewPatchset,
    allowOtherConnections: item.allowOtherConnections,
    ...(item.disableAfterConsecutiveFailures === undefined
      ? {}
      : { disableAfterConsecutiveFailures: item.disableAfterConsecutiveFailures }),
  };
  const [first, ...rest] = errors;
  return first === undefined ? { kind: 'pipeline', pipeline } : { kind: 'broken', errors: [first, ...rest] };
}

function unknownConnection(name: string, languages: Languages): [code: string, text: string] {
  if (BUILT_IN_OF_ZUUL.includes(name)) return ['not-supported', `"${name}" is not supported yet; remove it`];
  const hint =
    didYouMean(name, languages.keys()) || `; configured: ${[...languages.keys()].join(', ') || 'none'}`;
  return ['unknown-connection', `no connection is called "${name}"${hint}`];
}
