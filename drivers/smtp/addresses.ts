/** Addresses of mails as they are configured: a mailbox, or a name of the mail server's own machine, such as Zuul's default `zuul`. */

/** Of one mail. */
export const MOST_RECIPIENTS = 50;

/** Separated by commas, as in Zuul. */
export function addressesOf(text: string): readonly string[] {
  return text
    .split(',')
    .map(each => each.trim())
    .filter(each => each !== '');
}

/** In one clause; undefined: it can be written into a header and into an envelope as it is. */
export function addressProblem(address: string): string | undefined {
  if (/^[^\s\p{Cc}<>()[\]:;@\\,"]{1,64}(?:@[^\s\p{Cc}<>()\\,;:"@]{1,255})?$/u.test(address)) return undefined;
  return `"${address}" is no address: write user@example.org, without a name around it`;
}
