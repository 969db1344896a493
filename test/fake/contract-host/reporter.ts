/** Reports on proposals of the fake host, as data; the host itself finds by its key which it has. */
import { parsedBefore } from '../../../drivers/git/mapping.ts';
import type { Reporter } from '../../../src/driver/reporter.ts';
import { projectIdOf } from '../../../src/model/project.ts';
import type { ContractHost } from './host.ts';
import { parseReporter } from './language.ts';
import { laterOf } from './trouble.ts';

export function createReporter(host: ContractHost): Reporter {
  return {
    async report({ config, change, report }, signal, mayAct = () => true) {
      signal.throwIfAborted();
      if (!parsedBefore(parseReporter(config)).note || change.kind === 'ref') return { kind: 'done' };
      if (!mayAct()) throw new Error('this process may not act at the code host any more');
      try {
        const { name } = projectIdOf(change.project);
        await host.comment(name, change.id, { key: `${report.item ?? ''} ${report.action}`, report });
        return { kind: 'done' };
      } catch (error) {
        const later = laterOf(error);
        if (later === undefined) throw error;
        return { kind: 'later', ...later };
      }
    },
  };
}
