/** A mail server on loopback that speaks the protocol, and keeps what it takes. */
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

/** One mail as it came over the wire. */
interface TakenMail {
  readonly from: string;
  readonly to: readonly string[];
  /** Headers and text. */
  readonly raw: string;
  readonly user: string | undefined;
  readonly secure: boolean;
}

export interface MailServer extends AsyncDisposable {
  readonly port: number;
  readonly taken: TakenMail[];
  /** What it answers to a mail; default: it takes it. `silent`: it takes it and says nothing. */
  answer: 'takes' | 'refuses' | 'busy' | 'silent';
  close(): Promise<void>;
}

/** @param port 0: any. */
export async function openMailServer(options: SMTPServerOptions = {}, port = 0): Promise<MailServer> {
  const taken: TakenMail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: options.key === undefined ? ['STARTTLS'] : [],
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', chunk => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        if (mail.answer === 'refuses')
          return done(Object.assign(new Error('not here'), { responseCode: 554 }));
        if (mail.answer === 'busy') return done(Object.assign(new Error('later'), { responseCode: 451 }));
        taken.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          raw: Buffer.concat(chunks).toString('utf8'),
          user: session.user,
          secure: session.secure,
        });
        if (mail.answer !== 'silent') done();
      });
    },
    ...options,
  });
  // A client that goes away in the middle is no error of the server.
  server.on('error', () => {});
  await new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve));
  const mail: MailServer = {
    port: (server.server.address() as AddressInfo).port,
    taken,
    answer: 'takes',
    close: () => new Promise(resolve => server.close(resolve)),
    [Symbol.asyncDispose]: () => mail.close(),
  };
  return mail;
}
