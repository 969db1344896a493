/** Who may what. */
import type { Access, FakeAccount, FakeChange, FakeProject } from './world.ts';

export function isAdministrator(account: FakeAccount | null): boolean {
  return account?.groups.has('Administrators') ?? false;
}

export function isMember(account: FakeAccount | null, groups: readonly string[]): boolean {
  return groups.some(
    group =>
      group === 'Anonymous Users' ||
      (account !== null &&
        (group === 'Registered Users' || group === `user/${account.username}` || account.groups.has(group))),
  );
}

export function may(
  account: FakeAccount | null,
  what: Exclude<keyof Access, 'labels'>,
  project: FakeProject,
): boolean {
  return isAdministrator(account) || isMember(account, project.access[what]);
}

/** Private changes are for their owner, their reviewers and those with `viewPrivate`. */
export function seesChange(account: FakeAccount | null, change: FakeChange): boolean {
  if (!may(account, 'read', change.project)) return false;
  if (!change.now.private) return true;
  if (account === null) return false;
  return (
    change.owner === account ||
    change.now.reviewers.has(account.username) ||
    may(account, 'viewPrivate', change.project)
  );
}

export function mayEdit(account: FakeAccount | null, change: FakeChange): boolean {
  return account !== null && (account === change.owner || isAdministrator(account));
}

/** What an account may vote; null: nothing. Of several rules for one group the first counts. */
export function labelRange(
  project: FakeProject,
  account: FakeAccount | null,
  label: string,
): { readonly min: number; readonly max: number } | null {
  if (account === null) return null;
  const rules = project.access.labels.filter(rule => rule.label === label);
  const firsts = rules.filter((rule, at) => rules.findIndex(each => each.group === rule.group) === at);
  const mine = firsts.filter(rule => isMember(account, [rule.group]));
  if (mine.length === 0) return null;
  return { min: Math.min(...mine.map(rule => rule.min)), max: Math.max(...mine.map(rule => rule.max)) };
}
