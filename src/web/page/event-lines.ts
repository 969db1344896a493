/** @returns takes pieces of a stream of server-sent events. @param take called with each whole event: its name, data and last id. */
export function parseEvents(
  take: (name: string, data: string, lastEventId: string) => void,
): (piece: string) => void {
  let rest = '';
  let name = 'message';
  let id = '';
  let data: string[] = [];
  const end = () => {
    if (data.length > 0) take(name, data.join('\n'), id);
    name = 'message';
    data = [];
  };
  const field = (line: string) => {
    const at = line.indexOf(':');
    const key = at < 0 ? line : line.slice(0, at);
    const value = at < 0 ? '' : line.slice(at + 1).replace(/^ /, '');
    if (key === 'event') name = value;
    if (key === 'data') data.push(value);
    if (key === 'id') id = value;
  };
  return piece => {
    const lines = `${rest}${piece}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const text = line.replace(/\r$/, '');
      if (text === '') end();
      else field(text);
    }
  };
}
