/** Gerrit's small JSON objects. */
import type { Shape } from '../../github/fake/shape.ts';
import { type FakeAccount, gerritTime } from './world.ts';

/** @param detailed false: its number alone, as without `DETAILED_ACCOUNTS` */
export function accountShape({ id, name, email, username }: FakeAccount, detailed: boolean): Shape {
  return detailed ? { _account_id: id, name, email, username } : { _account_id: id };
}

/** GitPersonInfo. */
export function personShape(who: {
  readonly name: string;
  readonly email: string;
  readonly seconds: number;
}): Shape {
  return { name: who.name, email: who.email, date: gerritTime(who.seconds * 1000), tz: 0 };
}
