/**
 * The git driver on a host with rules of its own: it lands what is approved, and what has a note from the pipeline that lands it.
 * For stories about what a host refuses.
 */
import { readFacts } from '../../drivers/git/facts.ts';
import { gitDriver } from '../../drivers/git/index.ts';
import type { DriverTable } from '../../src/cmd/service/driver-table.ts';
import type { Driver, DriverImports } from '../../src/driver/driver.ts';
import { loadedDriver } from './loaded-driver.ts';

const RULES = 'the rules of branch master want';

const ruleDriver: Driver = {
  ...gitDriver,
  mergeability: {
    votesOf: reporter => JSON.stringify(reporter).includes('"note":true'),
    canLand({ facts }, { ourVotes }) {
      if (!readFacts(facts).approved) return { met: false, text: `${RULES} an approval` };
      if (!ourVotes.includes(true))
        return { met: false, text: `${RULES} a note, which this pipeline does not give` };
      return { met: true, text: 'all rules are met' };
    },
  },
};

/** For the threads, which load this module. */
export const drivers: readonly DriverImports[] = [loadedDriver(ruleDriver)];

export const ruleDrivers: DriverTable = { module: new URL(import.meta.url), entries: drivers };
