/**
 * Sends one mail over a connection of its own. A mail of which the server has the end and did not answer may have been taken: then it is
 * `unconfirmed`.
 */
import { Readable } from 'node:stream';
import { createTransport } from 'nodemailer';
import MailComposer from 'nodemailer/lib/mail-composer/index.js';
import type { Mail } from './mail.ts';
import type { SmtpOptions } from './options.ts';

/** What came of it; `text` is one line without secrets. */
type Sent =
  | { readonly kind: 'sent' }
  /** Nothing was taken: tried again. */
  | { readonly kind: 'away' | 'unconfirmed'; readonly text: string }
  /** The server refuses it for good. */
  | { readonly kind: 'refused'; readonly text: string };

/** Milliseconds for one answer of the server, and for the whole mail. */
export interface SmtpDeadlines {
  readonly answer: number;
  readonly mail: number;
}

/** @param ca certificates that are trusted in place of the machine's. */
export type SendMail = (mail: Mail, signal: AbortSignal) => Promise<Sent>;

export function mailSender(
  { server, port, login, startTls }: SmtpOptions,
  ca: string | undefined,
  deadlines: SmtpDeadlines,
): SendMail {
  return async (mail, signal) => {
    const raw = await new MailComposer({
      ...{ from: mail.from, to: [...mail.to], subject: mail.subject, text: mail.text },
      messageId: mail.messageId,
      ...{ disableFileAccess: true, disableUrlAccess: true },
      headers: { 'Auto-Submitted': 'auto-generated' },
    })
      .compile()
      .build();
    const body = Readable.from([raw], { objectMode: false });
    const transport = createTransport({
      ...{ host: server, port, secure: false, requireTLS: startTls, ignoreTLS: !startTls },
      ...(login === undefined ? {} : { auth: { user: login.user, pass: login.password.reveal() } }),
      ...(ca === undefined ? {} : { tls: { ca } }),
      connectionTimeout: deadlines.answer,
      greetingTimeout: deadlines.answer,
      socketTimeout: deadlines.answer,
    });
    const ending = AbortSignal.any([signal, AbortSignal.timeout(deadlines.mail)]);
    const close = () => transport.close();
    ending.addEventListener('abort', close, { once: true });
    try {
      ending.throwIfAborted();
      await withAbort(
        transport.sendMail({ envelope: { from: mail.from, to: [...mail.to] }, raw: body }),
        ending,
      );
      return { kind: 'sent' };
    } catch (error) {
      signal.throwIfAborted();
      return failure(error, body.readableEnded, login?.password.reveal());
    } finally {
      ending.removeEventListener('abort', close);
      transport.close();
    }
  };
}

function withAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const stop = () => reject(new Error('the mail server did not answer in time'));
  signal.addEventListener('abort', stop, { once: true });
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', stop));
}

/** @param wasHandedOver the server has all of the mail. */
function failure(error: unknown, wasHandedOver: boolean, password: string | undefined): Sent {
  const code = error instanceof Error && 'responseCode' in error ? Number(error.responseCode) : undefined;
  const said = error instanceof Error ? error.message : String(error);
  const text = withoutSecret(said.split('\n')[0] ?? '', password);
  // A server refuses a login, or a command out of its order, for all mails: that is its trouble, or the settings'.
  const isLogin = error instanceof Error && 'code' in error && error.code === 'EAUTH';
  if (code !== undefined && code >= 500 && !isLogin) return { kind: 'refused', text };
  return { kind: code === undefined && wasHandedOver ? 'unconfirmed' : 'away', text };
}

function withoutSecret(text: string, password: string | undefined): string {
  if (password === undefined || password === '') return text;
  const base64 = Buffer.from(password).toString('base64');
  return text.replaceAll(password, '***').replaceAll(base64, '***');
}
