/** The languages of {@link import('./index.ts').contractTable}, which threads load by the URL of this module. */
import { languages as real } from '../../../drivers/languages.ts';
import type { DriverLanguages } from '../../../src/driver/driver.ts';
import { language } from './language.ts';

export const contractLanguages: DriverLanguages = { name: 'contract', config: language };

export const languages: readonly DriverLanguages[] = [...real, contractLanguages];
