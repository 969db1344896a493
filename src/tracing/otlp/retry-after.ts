/**
 * The wait an HTTP server asks for: `Retry-After: 120` or `Retry-After: Sun, 22 Nov 2026 08:00:00 GMT`. A date counts from
 * the `Date` of the same answer: the clocks need not agree.
 */

const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** @returns undefined when the header is missing or malformed; never negative. */
export function retryAfterMs(header: string | undefined, date: string | undefined): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const [until, answered] = [timeOf(text), timeOf(date ?? '')];
  return until === undefined || answered === undefined ? undefined : Math.max(0, until - answered);
}

function timeOf(text: string): number | undefined {
  const ms = HTTP_DATE.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}
