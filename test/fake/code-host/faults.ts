/** What goes wrong with requests, by script: the first rule that fits takes a request. */
export type Ailment =
  /** Answers so, without doing it; `after`: having done it. */
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly message?: string;
      /** Instead of JSON, e.g. the page of a proxy. */
      readonly html?: string;
      readonly headers?: Readonly<Record<string, string>>;
      readonly after?: boolean;
    }
  /** Takes the request and does not answer until `heal`. `after`: having done it. */
  | { readonly kind: 'hang'; readonly after?: boolean }
  /** Ends the connection. `after`: having done it. */
  | { readonly kind: 'reset'; readonly after?: boolean }
  /** Does it, so many milliseconds later. */
  | { readonly kind: 'late'; readonly ms: number }
  /** Does it after something else has happened: a push that comes first, an event that was processed. */
  | { readonly kind: 'after'; readonly what: () => Promise<unknown> };

export interface FaultRule {
  /** Operation id, `graphql`, `git/fetch` or `git/push`. Absent: any. */
  readonly operation?: string | RegExp;
  readonly method?: string;
  /** Of path and query. */
  readonly path?: RegExp;
  /** Of the body's text; for one query of several. */
  readonly body?: RegExp;
  /** How many requests; absent: one. */
  readonly times?: number;
  readonly does: Ailment;
}

export interface FaultyRequest {
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

export interface Faults {
  add(rule: FaultRule): void;
  /** No rule is left; requests that hang are cut. */
  heal(): void;
  take(request: FaultyRequest): Ailment | undefined;
  /** Of a request that hangs: resolves when it is cut. */
  readonly healed: () => Promise<void>;
  /** Requests that began to hang since all was well. */
  readonly hanging: () => number;
}

export function createFaults(): Faults {
  let rules: { readonly rule: FaultRule; left: number }[] = [];
  let healing = Promise.withResolvers<void>();
  let hanging = 0;
  return {
    add: rule => void rules.push({ rule, left: rule.times ?? 1 }),
    heal() {
      rules = [];
      hanging = 0;
      healing.resolve();
      healing = Promise.withResolvers<void>();
    },
    take(request) {
      const found = rules.find(({ rule, left }) => left > 0 && fits(rule, request));
      if (found === undefined) return undefined;
      found.left--;
      return found.rule.does;
    },
    healed() {
      hanging++;
      return healing.promise;
    },
    hanging: () => hanging,
  };
}

function fits({ operation, method, path, body }: FaultRule, request: FaultyRequest): boolean {
  const named =
    operation === undefined ||
    (operation instanceof RegExp ? operation.test(request.operation) : operation === request.operation);
  const pathFits = path === undefined || path.test(request.path);
  return (
    named &&
    pathFits &&
    (method === undefined || method === request.method) &&
    (body === undefined || body.test(request.body))
  );
}
