/**
 * `Depends-On:` lines of a commit message, as Zuul reads them:
 *
 *     Depends-On: https://review.example.org/c/acme/lib/+/7
 *     Depends-On: I2ed0a85ab870bd1e03d8e84eb287bcf95c0a1f50          the legacy form, a Change-Id
 */

/** Further lines are ignored. */
const MOST_LINES = 100;
/** Characters; longer values name nothing. */
const LONGEST_LINE = 500;

/** The values as written, in order, each once. */
export function gerritDependsOn(message: string): readonly string[] {
  const values = new Set<string>();
  for (const line of message.split(/\r\n|\r|\n/)) {
    const value = /^depends-on:(.*)$/i.exec(line.slice(0, LONGEST_LINE))?.[1]?.trim() ?? '';
    if (value !== '') values.add(value);
    if (values.size === MOST_LINES) break;
  }
  return [...values];
}

/** Whether the value is a Change-Id. */
export function isChangeId(value: string): boolean {
  return /^I[0-9a-f]{40}$/i.test(value);
}
