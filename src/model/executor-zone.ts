/** Which hosts an executor reaches: networks are apart, and executors are set up in each of them. As in Zuul. Pure. */

/** Of an executor, as it was set up. */
export interface ExecutorZone {
  /** Absent: it is in none. */
  readonly zone?: string;
  /** It also takes builds without a zone. */
  readonly allowUnzoned?: true;
}

/** @param wanted zone of hosts; undefined: hosts of none, or a build that needs none. */
export function reachesZone({ zone, allowUnzoned }: ExecutorZone, wanted: string | undefined): boolean {
  return zone === wanted || (wanted === undefined && allowUnzoned === true);
}

/** Why hosts of a zone get no builds, for people. */
export function unreachedText(zone: string | undefined): string {
  return zone === undefined
    ? 'no executor that is running takes builds without a zone'
    : `no executor of zone ${zone} is running`;
}
