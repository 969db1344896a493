/**
 * Whether a node or group may have the name in an inventory, where it is a pattern and a file name as well. Characters by which Ansible
 * joins, excludes and counts hosts are refused, and so are names that lead out of a folder.
 *
 *     isInventoryName('compute-1.example')   →   true
 *     isInventoryName('web[1:3]')            →   false
 */
export function isInventoryName(name: string): boolean {
  return /^[\p{L}\p{N}_][\p{L}\p{N}_.+@=~-]{0,199}$/u.test(name);
}
