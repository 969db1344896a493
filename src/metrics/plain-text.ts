/**
 * Converts OpenMetrics text to Prometheus' older text format: counters carry `_total` in their descriptions too, and there are
 * neither exemplars nor an end mark. (prom-client can write both, but renames its counters for good when it has written the newer one.)
 */
export function plainText(openMetrics: string): string {
  const lines = openMetrics.split('\n');
  const counters = new Set(lines.flatMap(line => /^# TYPE (\S+) counter$/.exec(line)?.[1] ?? []));
  return lines
    .filter(line => line !== '# EOF')
    .map(line => (line.startsWith('# ') ? described(line, counters) : withoutExemplar(line)))
    .join('\n');
}

function described(line: string, counters: ReadonlySet<string>): string {
  return line.replace(/^(# (?:HELP|TYPE) )(\S+)/, (_, start: string, name: string) =>
    counters.has(name) ? `${start}${name}_total` : `${start}${name}`,
  );
}

/** An exemplar follows the value after ` # `; a label may hold that too, but no value follows it there. */
function withoutExemplar(line: string): string {
  return line.replace(/ # \{[^}]*\} \S+ \S+$/, '');
}
