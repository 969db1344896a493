/** The driver of the fake host: a host is found by its name, in this process. Its language works in any thread. */
import type { Driver } from '../../../src/driver/driver.ts';
import type { WebhookIntake } from '../../../src/driver/intake.ts';
import { projectIdOf } from '../../../src/model/project.ts';
import type { ContractHost } from './host.ts';
import { createLanding } from './landing.ts';
import { contractLanguages } from './languages.ts';
import { monotonicReads } from './monotonic-reads.ts';
import { createReporter } from './reporter.ts';
import { createSource, projectChanged } from './source.ts';

const hosts = new Map<string, ContractHost>();

/** From now on, until disposed, `host = <name>` of a connection is this one. */
export function registerHost(name: string, host: ContractHost): Disposable {
  hosts.set(name, host);
  return { [Symbol.dispose]: () => void hosts.delete(name) };
}

export const contractDriver: Driver = {
  ...contractLanguages,
  eventSpanKind: 'ContractEvent',
  async connect(name, options, { clock }) {
    const hostName = options.required('host');
    const token = options.secret('webhook_token');
    const host = hosts.get(hostName);
    if (host === undefined) {
      options.refuse('host', `there is no fake host "${hostName}"`);
      return undefined;
    }
    const reads = monotonicReads(host);
    return {
      name,
      driver: 'contract',
      canonicalHostname: 'contract.example',
      remote: async project => ({ url: host.bare(projectIdOf(project).name) }),
      publicUrl: () => undefined,
      source: createSource({ connection: name, clock, reads, host }),
      listener: {
        async listen({ emit, projects, signal }) {
          for (const project of projects()) {
            const { name: id } = projectIdOf(project);
            await emit({
              ...projectChanged({ id: '', project: id, sequence: 0 }),
              deliveryId: `look-${id.replaceAll('/', '.')}`,
            });
          }
          await new Promise<void>(resolve =>
            signal.addEventListener('abort', () => resolve(), { once: true }),
          );
        },
      },
      webhook: webhookWith(token?.reveal() ?? ''),
      reporter: createReporter(host, clock),
      landing: createLanding({ host, reads, clock }),
      close: async () => {},
    };
  },
};

function webhookWith(token: string): WebhookIntake {
  return {
    maxBytes: 10_000,
    ratePerSecond: 1_000,
    async verify(headers, body) {
      if (headers['x-contract-token'] !== token)
        return { kind: 'refused', status: 401, reason: 'the token is wrong' };
      return { kind: 'accepted', event: projectChanged(JSON.parse(Buffer.from(body).toString())) };
    },
  };
}
