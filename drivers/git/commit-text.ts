/** The text of a commit. */
export interface CommitText {
  /** First line, fit for one line of a report: no control characters, at most 200 characters. */
  readonly subject: string;
  readonly message: string;
  /** The author's name, without the address. */
  readonly author: string;
}

const LONGEST_LINE = 200;
const CONTROLS = /\p{Cc}+/gu;

/** @param bytes content of a commit object. Bytes that are not UTF-8 become replacement characters. */
export function parseCommitText(bytes: Buffer): CommitText {
  const text = bytes.toString('utf8');
  const end = text.indexOf('\n\n');
  const header = end < 0 ? text : text.slice(0, end);
  const message = end < 0 ? '' : text.slice(end + 2);
  const author = /^author (.*?) ?</m.exec(header)?.[1] ?? '';
  const subject = message.split('\n').find(line => line.trim() !== '') ?? '';
  return { subject: oneLine(subject), message, author: oneLine(author) };
}

function oneLine(text: string): string {
  return text.replaceAll(CONTROLS, ' ').trim().slice(0, LONGEST_LINE).toWellFormed();
}
