/**
 * Control sequences in the output of a job: one list for the terminal (`gatehouse log`) and the page, so that neither shows or obeys
 * what the other drops.
 *
 *     'a\x1b[31mred\x1b]0;title\x07'.replaceAll(CONTROL_SEQUENCES, '')      // 'ared'
 *
 * Matches within one line: a sequence that is not terminated ends with its line.
 */
const KINDS = {
  /** SGR: colours and weight. Its parameters are the only capturing group. */
  colour: String.raw`\x1b\[([0-9;:]*)m`,
  otherCsi: String.raw`(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?`,
  /** OSC, DCS, SOS, PM, APC: up to their terminator. */
  text: String.raw`(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?`,
  otherEscape: String.raw`\x1b[ -/]*[0-~]?`,
  /** Including bidirectional controls, which would make a line read differently from what it is. */
  control: String.raw`[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]`,
} as const;

/** Every control sequence and control character except tab and newline; group 1: the parameters of a colour sequence. */
export const CONTROL_SEQUENCES: RegExp = new RegExp(Object.values(KINDS).join('|'), 'g');
