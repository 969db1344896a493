import type { DriverLanguages } from '../../../src/driver/driver.ts';
import { language } from './language.ts';

export const contractLanguages: DriverLanguages = { name: 'contract', config: language };
