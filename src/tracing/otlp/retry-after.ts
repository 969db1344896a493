/** How long an HTTP server wants us to wait: `Retry-After: 120` or `Retry-After: Sun, 22 Nov 2026 08:00:00 GMT`. */

const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * @param now milliseconds since the Unix epoch.
 * @returns undefined when the header is missing or says nothing that can be understood; never negative.
 */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  return HTTP_DATE.test(text) ? Math.max(0, Date.parse(text) - now) : undefined;
}
