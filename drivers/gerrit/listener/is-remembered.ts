/** Whether processing has seen a change as a listing shows it. */
import type { DriverMemory } from '../../../src/driver/driver-memory.ts';
import type { ChangeInfo } from '../api/change-info.ts';
import {
  type ChangeMemory,
  changeMemoryKey,
  decodeChangeMemory,
  newestOf,
} from '../reading/change-memory.ts';

/** @throws as the store does. */
export async function isChangeRemembered(info: ChangeInfo, memory: DriverMemory): Promise<boolean> {
  const known = readable(await memory.get(changeMemoryKey(info.number)));
  return known !== undefined && known.gone === undefined && isSame(info, known);
}

/** Nearly everything that happens to a change moves `updated` or adds a message; that it was moved to another branch does neither. */
function isSame(info: ChangeInfo, known: ChangeMemory): boolean {
  const newest = newestOf(info.messages);
  return (
    info.updatedAt === known.updatedAt &&
    newest.at === known.newest.at &&
    newest.count === known.newest.count &&
    info.status === known.status &&
    info.revision.commit === known.revision &&
    info.branch === known.branch &&
    info.wip === known.wip &&
    info.private === known.private
  );
}

/** What cannot be read is read anew by processing, which judges it. */
function readable(value: Parameters<typeof decodeChangeMemory>[0]): ChangeMemory | undefined {
  try {
    return decodeChangeMemory(value);
  } catch {
    return undefined;
  }
}
