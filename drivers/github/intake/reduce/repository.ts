/** `repository`, `installation` and the rules of branches: what was read before has to be read again. */
import { payloadText } from '../payload-fields.ts';
import { type Reducer, uninteresting } from '../reduced.ts';

const ACTIONS: ReadonlySet<string> = new Set([
  'renamed',
  'transferred',
  'archived',
  'unarchived',
  'deleted',
  'edited',
]);

/** The event `repository`. */
export const reduceRepository: Reducer = (payload, action) => {
  if (!ACTIONS.has(action)) return uninteresting(action);
  const name = payloadText(payload, 'changes.repository.name.from', 100);
  const owner =
    payloadText(payload, 'changes.owner.from.user.login', 100) ??
    payloadText(payload, 'changes.owner.from.organization.login', 100);
  const [ownerNow = '', nameNow = ''] = payloadText(payload, 'repository.full_name', 201)?.split('/') ?? [];
  const formerName =
    name === undefined && owner === undefined
      ? {}
      : { formerName: `${owner ?? ownerNow}/${name ?? nameNow}` };
  return { kind: 'about', about: { kind: 'repository', ...formerName } };
};

/** The events `branch_protection_rule`, `branch_protection_configuration` and `repository_ruleset`. */
export const reduceRules: Reducer = () => ({ kind: 'about', about: { kind: 'rules' } });

/** The events `installation` and `installation_repositories`. */
export const reduceInstallation: Reducer = () => ({ kind: 'about', about: { kind: 'installation' } });
