/**
 * Sends one mail over a connection of its own. A mail of which the server has the end and did not answer may have been taken: then it is
 * `unconfirmed`.
 */
import { Readable } from 'node:stream';
import MailComposer from 'nodemailer/lib/mail-composer/index.js';
import SMTPConnection, { type SMTPConnectionSendInfo } from 'nodemailer/lib/smtp-connection/index.js';
import type { Mail } from './mail.ts';
import type { SmtpOptions } from './options.ts';

/** What came of it; `text` is one line without secrets. */
type Sent =
  | { readonly kind: 'sent' }
  /** Nothing was taken: tried again. `denied`: the login was refused, or is missing. */
  | { readonly kind: 'away'; readonly reason: 'unreachable' | 'denied'; readonly text: string }
  | { readonly kind: 'unconfirmed'; readonly text: string }
  /** The server refuses it for good, or for some of its recipients: the others have it. */
  | { readonly kind: 'refused'; readonly text: string };

/** Milliseconds for one answer of the server, and for the whole mail. */
export interface SmtpDeadlines {
  readonly answer: number;
  readonly mail: number;
}

/** @throws what `signal` was aborted with. */
export type SendMail = (mail: Mail, signal: AbortSignal) => Promise<Sent>;

/** @param ca certificates that are trusted in place of the machine's. */
export function mailSender(
  { server, port, login, startTls }: SmtpOptions,
  ca: string | undefined,
  deadlines: SmtpDeadlines,
): SendMail {
  return async (mail, signal) => {
    const raw = await rawMail(mail);
    // Read from when the server has asked for it on, unlike a buffer.
    const body = Readable.from([raw], { objectMode: false });
    const connection = new SMTPConnection({
      ...{ host: server, port, secure: false, requireTLS: startTls, ignoreTLS: !startTls },
      ...(ca === undefined ? {} : { tls: { ca } }),
      connectionTimeout: deadlines.answer,
      greetingTimeout: deadlines.answer,
      socketTimeout: deadlines.answer,
    });
    const password = login?.password.reveal();
    const ending = AbortSignal.any([signal, AbortSignal.timeout(deadlines.mail)]);
    try {
      ending.throwIfAborted();
      const { broken, session } = openSession(connection, ending);
      const info = await Promise.race([broken, session.send(mail, body, login?.user, password)]);
      return partlyRefused(mail, info, password) ?? { kind: 'sent' };
    } catch (error) {
      signal.throwIfAborted();
      return failure(error, body.readableEnded, password);
    } finally {
      connection.close();
    }
  };
}

function rawMail(mail: Mail): Promise<Buffer> {
  return new MailComposer({
    ...{ from: mail.from, to: [...mail.to], subject: mail.subject, text: mail.text },
    messageId: mail.messageId,
    ...(mail.thread === undefined ? {} : { inReplyTo: mail.thread, references: mail.thread }),
    ...{ disableFileAccess: true, disableUrlAccess: true },
    headers: {
      'Auto-Submitted': 'auto-generated',
      // For Exchange, which answers with notes of absence otherwise.
      'X-Auto-Response-Suppress': 'All',
      'List-Id': `Gatehouse <${mail.listId}>`,
      'X-Gatehouse-Event': mail.event,
    },
  })
    .compile()
    .build();
}

/** `broken` never resolves; it rejects when the connection breaks, or at the end of the time. */
function openSession(connection: SMTPConnection, ending: AbortSignal) {
  const { promise: broken, reject } = Promise.withResolvers<never>();
  const stop = () => reject(new Error('the mail server did not answer in time'));
  ending.addEventListener('abort', stop, { once: true });
  connection.once('end', () => ending.removeEventListener('abort', stop));
  connection.on('error', reject);
  return {
    broken,
    session: {
      async send(mail: Mail, body: Readable, user: string | undefined, pass: string | undefined) {
        await answered<void>(done => connection.connect(error => done(error ?? null)));
        if (user !== undefined)
          await answered<boolean>(done => connection.login({ credentials: { user, pass } }, done));
        const envelope = { from: mail.from, to: [...mail.to] };
        return answered<SMTPConnectionSendInfo>(done => connection.send(envelope, body, done));
      },
    },
  };
}

function answered<T>(ask: (done: (error: Error | null, value?: T) => void) => void): Promise<T> {
  return new Promise((resolve, reject) =>
    ask((error, value) => (error === null ? resolve(value as T) : reject(error))),
  );
}

function partlyRefused(
  mail: Mail,
  { rejected, rejectedErrors }: SMTPConnectionSendInfo,
  password: string | undefined,
): Sent | undefined {
  if (rejected.length === 0) return undefined;
  const [first] = rejectedErrors ?? [];
  const why = first === undefined ? '' : `: ${lineOf(first, password)}`;
  const whom = `${rejected.length} of ${mail.to.length} recipients (${rejected.join(', ')})`;
  return { kind: 'refused', text: `${whom} did not get a mail that the others have${why}` };
}

/** Answers of the server that are about the login, wherever it gives them. RFC 4954. */
const ABOUT_LOGIN: ReadonlySet<number | undefined> = new Set([530, 534, 535, 538]);

/** @param wasHandedOver the server has all of the mail. */
function failure(error: unknown, wasHandedOver: boolean, password: string | undefined): Sent {
  const text = lineOf(error, password);
  const { code, responseCode } = codesOf(error);
  if (code === 'EAUTH' || ABOUT_LOGIN.has(responseCode)) return { kind: 'away', reason: 'denied', text };
  // A server refuses the connection, its encryption, or a command out of its order for all mails: that is its trouble, or the settings'.
  const isOfMail = code === 'EENVELOPE' || code === 'EMESSAGE';
  if (isOfMail && (responseCode ?? 500) >= 500) return { kind: 'refused', text };
  return responseCode === undefined && wasHandedOver
    ? { kind: 'unconfirmed', text }
    : { kind: 'away', reason: 'unreachable', text };
}

function codesOf(error: unknown): { readonly code?: unknown; readonly responseCode?: number } {
  if (!(error instanceof Error)) return {};
  return {
    ...('code' in error ? { code: error.code } : {}),
    ...('responseCode' in error && typeof error.responseCode === 'number'
      ? { responseCode: error.responseCode }
      : {}),
  };
}

function lineOf(error: unknown, password: string | undefined): string {
  const said = error instanceof Error ? error.message : String(error);
  const [text = ''] = said.split('\n');
  if (password === undefined || password === '') return text;
  const base64 = Buffer.from(password).toString('base64');
  return text.replaceAll(password, '***').replaceAll(base64, '***');
}
