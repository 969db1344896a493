/** A report as a mail. Pure. */

import { parsedBefore } from '../../src/driver/read-mapping.ts';
import { textWithRemarks } from '../../src/driver/remarks-text.ts';
import { reportLine } from '../../src/driver/report-line.ts';
import type { ReportRequest } from '../../src/driver/reporter.ts';
import { messageKey } from '../../src/driver/unconfirmed.ts';
import { cutLine } from '../../src/lib/cut-text.ts';
import { parseFormat } from '../../src/lib/format-text.ts';
import { type Change, changeText } from '../../src/model/change.ts';
import { ITEM_FIELDS, itemFields } from '../../src/model/message-fields.ts';
import { addressesOf } from './addresses.ts';
import type { SmtpOptions } from './options.ts';
import { parseMailReporter } from './reporter-config.ts';

/** What is sent. */
export interface Mail {
  readonly from: string;
  readonly to: readonly string[];
  /** One line. */
  readonly subject: string;
  readonly text: string;
  /** The same for each repetition: a reader shows one mail. */
  readonly messageId: string;
  /** A `Message-ID` that no mail has: readers show those that refer to it as one thread. Undefined: about no item. */
  readonly thread: string | undefined;
  /** `<pipeline>.<tenant>.<domain>`, for filters; RFC 2919. */
  readonly listId: string;
  /** What happened, for filters: of a notice its event, else the action. */
  readonly event: string;
}

const LONGEST_SUBJECT = 500;

/** @param request its `config` as {@link parseMailReporter} returned it. */
export function mailOf(
  request: ReportRequest,
  { defaultFrom, defaultTo }: Pick<SmtpOptions, 'defaultFrom' | 'defaultTo'>,
): Mail {
  const { to = defaultTo, from = defaultFrom, subject } = parsedBefore(parseMailReporter(request.config));
  const { report, change } = request;
  const changes = report.changes.length === 0 ? [change] : report.changes;
  const domain = /@(.+)$/.exec(from)?.[1] ?? 'gatehouse.invalid';
  const { notice, place, item, action } = report;
  const line = notice === undefined ? undefined : reportLine(report, changes);
  return {
    from,
    to: addressesOf(to),
    subject: oneLine(
      subject === undefined && line !== undefined ? line : subjectOf(subject, place.pipeline, changes),
    ),
    text: line === undefined ? textWithRemarks(report) : noticeText(line, report.text),
    messageId: `<${messageKey(request)}@${domain}>`,
    thread: item === null ? undefined : `<item-${item}@${domain}>`,
    listId: [...[place.pipeline, place.tenant].map(label), domain].join('.'),
    event: notice?.event ?? action,
  };
}

/** The headline of a notice is about a change that only the subject would name. */
function noticeText(line: string, text: string): string {
  return [line, ...text.split('\n').slice(1)].join('\n');
}

function label(name: string): string {
  return name.replace(/[^A-Za-z0-9]+/g, '-').replace(/^-|-$/g, '') || 'x';
}

function subjectOf(subject: string | undefined, pipeline: string, changes: readonly Change[]): string {
  const format = subject === undefined ? undefined : parseFormat(subject, ITEM_FIELDS);
  if (format?.kind === 'format') return format.fill(itemFields(pipeline, changes));
  const refs = changes.map(({ ref }) => ref).join(' ');
  return `Report for changes ${changes.map(changeText).join(' ')} against ${refs}`;
}

/** Without control characters: what a stranger wrote begins no header. */
function oneLine(text: string): string {
  return cutLine(text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim(), LONGEST_SUBJECT);
}
