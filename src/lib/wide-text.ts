/**
 * Columns of texts with characters other than ASCII. A module of its own, loaded when such a text comes: what string-width is made of takes
 * 30 ms of processor time to load, a quarter of a short command.
 */
import stringWidth from 'string-width';

export function columnsOf(text: string): number {
  return stringWidth(text);
}
