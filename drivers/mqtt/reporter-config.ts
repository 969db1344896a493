/** `success: {broker: {topic: '{tenant}/zuul/{pipeline}/{project}', qos: 1}}`: Zuul's reporter. */
import type { ParseResult } from '../../src/driver/parse-result.ts';
import { isMapping, readMapping } from '../../src/driver/read-mapping.ts';
import { parseFormat } from '../../src/lib/format-text.ts';
import type { Json } from '../../src/model/job.ts';
import { ITEM_FIELDS } from '../../src/model/message-fields.ts';

/** `qos`: 0, 1 or 2, default 0. */
export type TopicReporter = {
  readonly topic: string;
  readonly qos: 0 | 1 | 2;
  /** Read where the message is stored (`src/scheduler/report/message-intents.ts`). */
  readonly 'include-returned-data'?: boolean;
};

/** One value of each field of a topic. */
export const TOPIC_FIELDS = {
  ...{ tenant: '', pipeline: '', project: '', branch: '', change: '', patchset: '', ref: '' },
  changes: ITEM_FIELDS.changes ?? '',
};

export function parseTopicReporter(value: Json): ParseResult<TopicReporter> {
  const mapping = readMapping(
    value,
    ['topic', 'qos', 'include-returned-data'],
    'a reporter of an mqtt connection',
  );
  const given = isMapping(value) ? value : {};
  const [topic = '', ...more] = mapping.strings('topic');
  const format = parseFormat(topic, TOPIC_FIELDS);
  if (topic === '' || more.length > 0)
    mapping.refuse(
      [],
      'missing-key',
      'a reporter of an mqtt connection needs one "topic", e.g. "{tenant}/{pipeline}"',
    );
  else if (format.kind === 'invalid')
    mapping.refuse(['topic'], 'invalid-message', `"topic": ${format.reason}`);
  const qos = [0, 1, 2].find(each => each === (given.qos ?? 0));
  if (qos === undefined) mapping.refuse(['qos'], 'out-of-range', '"qos" must be 0, 1 or 2');
  const returned = mapping.boolean('include-returned-data');
  return mapping.result({
    topic,
    qos: qos === 1 || qos === 2 ? qos : 0,
    ...(returned === undefined ? {} : { 'include-returned-data': returned }),
  });
}
