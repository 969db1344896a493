/** Reports on proposals of the fake host, as data; the host itself finds by its key which it has. */
import { parsedBefore } from '../../../src/driver/read-mapping.ts';
import type { Reporter } from '../../../src/driver/reporter.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import { projectIdOf } from '../../../src/model/project.ts';
import type { ContractHost } from './host.ts';
import { parseReporter } from './language.ts';
import { recordSteps } from './recorded-steps.ts';
import { laterOf } from './trouble.ts';

export function createReporter(host: ContractHost, clock: Pick<Clock, 'now'>): Reporter {
  return {
    async report({ config, change, report }, signal, mayAct = () => true) {
      signal.throwIfAborted();
      if (!parsedBefore(parseReporter(config)).note || change.kind === 'ref') return { kind: 'done' };
      if (!mayAct()) throw new Error('this process may not act at the code host any more');
      const asked = recordSteps(clock);
      try {
        const { name } = projectIdOf(change.project);
        const key = `${report.item ?? ''} ${report.action}`;
        await asked.ask('comment', change.project, () => host.comment(name, change.id, { key, report }));
        return { kind: 'done', ...asked.taken() };
      } catch (error) {
        const later = laterOf(error);
        if (later === undefined) throw error;
        return { kind: 'later', ...later, ...asked.taken() };
      }
    },
  };
}
