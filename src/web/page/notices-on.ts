/** Whether this browser has notifications of this site, and the reader turned them on. */
import { remembered } from './remembered.ts';

/** Only pages that came over a safe connection, or from this machine, have them. */
export function areOffered(): boolean {
  return typeof Notification !== 'undefined' && window.isSecureContext;
}

/** Then a hidden tab goes on reading: it has notifications to show. */
export function areOn(): boolean {
  return areOffered() && Notification.permission === 'granted' && remembered('notices') === 'on';
}
