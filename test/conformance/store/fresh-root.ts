let last = 0;

/** A path no other test uses, also when one server serves many processes. */
export const freshRoot = (): string => `/conformance-${process.pid}-${++last}`;
