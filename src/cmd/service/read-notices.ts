/** Sections `[notify NAME]` → rules, each checked against the connection that it names. */
import type { ParseResult } from '../../driver/parse-result.ts';
import { didYouMean } from '../../lib/nearest-name.ts';
import { showOptionProblem } from '../../lib/option-reader.ts';
import type { Json } from '../../model/job.ts';
import type { NoticeRule } from '../../scheduler/notices/notice-rules.ts';
import type { NotifySettings } from '../../settings/notify-section.ts';
import type { OpenedConnections } from './open-connections.ts';

/** Each error is one line with its location. */
export function readNotices(
  sections: readonly NotifySettings[],
  { messengerLanguages }: Pick<OpenedConnections, 'messengerLanguages'>,
): { readonly rules: readonly NoticeRule[]; readonly errors: readonly string[] } {
  const rules: NoticeRule[] = [];
  const errors: string[] = [];
  for (const { reporter, stuckAfter, slippedBy, ...section } of sections) {
    const refuse = (reason: string, option?: string) => {
      const at = reporter.options.get(option ?? '')?.at ?? reporter.at;
      errors.push(
        showOptionProblem({
          at,
          section: reporter.name,
          ...(option === undefined ? {} : { option }),
          reason,
        }),
      );
    };
    const language = messengerLanguages.get(section.connection);
    if (language?.takesNotices !== true) {
      const names = [...messengerLanguages].flatMap(([name, each]) => (each.takesNotices ? [name] : []));
      const known = names.length === 0 ? 'there is none' : `there are: ${names.join(', ')}`;
      const hint = didYouMean(section.connection, names);
      refuse(
        `"${section.connection}" is no [connection NAME] that takes notices${hint}; ${known}`,
        'connection',
      );
      continue;
    }
    const values = [...reporter.options].map(([option, { value }]) => [option, value] as const);
    const parsed: ParseResult<Json> = language.config.parseReporter(Object.fromEntries(values));
    if (parsed.kind === 'ok')
      rules.push({
        ...section,
        config: parsed.value,
        stuckAfterMs: stuckAfter * 1000,
        slippedByMs: slippedBy * 1000,
      });
    else for (const { path, text } of parsed.problems) refuse(text, String(path[0] ?? ''));
  }
  return { rules, errors };
}
