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
  /** What it answers to a mail; default: it takes it. `silent`: it takes it and says nothing. `away`: it breaks every connection. */
  answer: 'takes' | 'refuses' | 'busy' | 'silent' | 'away';
  close(): Promise<void>;
}

/** At any free port. */
export async function openMailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
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
  const listening = Promise.withResolvers<void>();
  server.once('error', listening.reject);
  server.listen(0, '127.0.0.1', () => listening.resolve());
  await listening.promise;
  // A client that goes away in the middle is no error of the server.
  server.on('error', () => {});
  server.server.prependListener('connection', socket => {
    if (mail.answer === 'away') socket.destroy();
  });
  const mail: MailServer = {
    port: (server.server.address() as AddressInfo).port,
    taken,
    answer: 'takes',
    close: () => new Promise(resolve => server.close(resolve)),
    [Symbol.asyncDispose]: () => mail.close(),
  };
  return mail;
}
