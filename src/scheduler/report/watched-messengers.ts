/** What came of messages, in the log and in the metrics: no item waits for them, so nothing else shows it. */
import type { Messenger } from '../../driver/messenger.ts';
import type { Log } from '../../lib/log.ts';
import type { MetricsSink } from '../../metrics/registry.ts';
import type { ConnectionName } from '../../model/project.ts';

/** A server that does not serve is one line of the log, and one more when it serves again; each message that it refuses is one. */
export function watchedMessengers(
  messengers: ReadonlyMap<ConnectionName, Messenger>,
  { log, metrics }: { readonly log: Log; readonly metrics?: Pick<MetricsSink, 'record'> | undefined },
): ReadonlyMap<ConnectionName, Pick<Messenger, 'reporter'>> {
  return new Map([...messengers].map(([name, messenger]) => [name, watched(name, messenger, log, metrics)]));
}

function watched(
  connection: ConnectionName,
  { reporter }: Messenger,
  log: Log,
  metrics: Pick<MetricsSink, 'record'> | undefined,
): Pick<Messenger, 'reporter'> {
  let isAway = false;
  return {
    reporter: {
      async report(request, signal, mayAct) {
        const outcome = await reporter.report(request, signal, mayAct);
        metrics?.record([
          { metric: 'gatehouse_messages', labels: { connection, outcome: outcome.kind }, value: 1 },
        ]);
        const about = { connection, item: request.report.item, action: request.report.action };
        if (outcome.kind === 'failed')
          log.warn({ ...about, reason: outcome.text }, `connection ${connection} did not take a message`);
        if (outcome.kind === 'later' && !isAway)
          log.warn(
            { ...about, reason: outcome.text },
            `connection ${connection} does not serve; its messages wait`,
          );
        if (outcome.kind === 'done' && isAway) log.info(about, `connection ${connection} serves again`);
        if (outcome.kind !== 'failed') isAway = outcome.kind === 'later';
        return outcome;
      },
    },
  };
}
