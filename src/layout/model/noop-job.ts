import type { JobName } from '../../model/project.ts';

/** Zuul's built-in job that succeeds without running anything: for projects that merge without tests. */
export const NOOP_JOB: JobName = 'noop';
