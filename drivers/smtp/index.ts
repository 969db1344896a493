/**
 * The `smtp` driver: reports as mails, with Zuul's options. It sends each mail over a connection of its own.
 *
 *     options.ts            [connection NAME]
 *     languages.ts          what pipelines say: reporter-config.ts, addresses.ts
 *     mail.ts               a report → a mail
 *     send-mail.ts          a mail → what came of it
 *
 * A server that does not serve, or refuses the login, is asked again for a day (`src/scheduler/report/report-loop.ts`); one that refuses
 * the mail has had its say.
 */
import { readFileSync } from 'node:fs';
import type { Messenger, MessengerDriver } from '../../src/driver/messenger.ts';
import type { ReporterOutcome, ReportRequest } from '../../src/driver/reporter.ts';
import { createUnconfirmed } from '../../src/driver/unconfirmed.ts';
import { smtpLanguages } from './languages.ts';
import { mailOf } from './mail.ts';
import { readSmtpOptions, type SmtpOptions } from './options.ts';
import { mailSender, type SendMail } from './send-mail.ts';

const DEADLINES = { answer: 30_000, mail: 120_000 };

export const smtpDriver: MessengerDriver = {
  ...smtpLanguages,
  async connect(name, read) {
    const options = readSmtpOptions(read);
    if (options === undefined) return undefined;
    let ca: string | undefined;
    try {
      ca = options.caCerts === undefined ? undefined : readFileSync(options.caCerts, 'utf8');
    } catch (error) {
      read.refuse('ca_certs', `cannot be read: ${error instanceof Error ? error.message : String(error)}`);
      return undefined;
    }
    return openMessenger(name, options, mailSender(options, ca, DEADLINES));
  },
};

/** @param send tests replace it, or its deadlines. */
export function openMessenger(
  name: string,
  options: Pick<SmtpOptions, 'defaultFrom' | 'defaultTo'>,
  send: SendMail,
): Messenger {
  const unconfirmed = createUnconfirmed();
  const closing = new AbortController();
  return {
    name,
    driver: smtpLanguages.name,
    reporter: {
      async report(request: ReportRequest, signal, mayAct = () => true): Promise<ReporterOutcome> {
        const mail = mailOf(request, options);
        if (!mayAct()) throw new Error('another process may send this mail');
        const sent = await send(mail, AbortSignal.any([signal, closing.signal]));
        if (sent.kind === 'unconfirmed') {
          if (unconfirmed.mayRepeat(request)) return { kind: 'later', reason: 'timeout', text: sent.text };
          return {
            kind: 'failed',
            text: `the mail server did not confirm a mail that it may have taken: ${sent.text}`,
          };
        }
        if (sent.kind === 'away') return { ...sent, kind: 'later' };
        unconfirmed.forget(request);
        return sent.kind === 'sent' ? { kind: 'done' } : { kind: 'failed', text: sent.text };
      },
    },
    async close() {
      closing.abort(new Error('the connection is closed'));
    },
  };
}
