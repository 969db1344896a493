/** Questions of people that wait for an answer. */
import type { Question } from '../../question.ts';
import { change, object, text, time } from '../schema.ts';
import { originSchema } from './events.ts';

/** {@link Question}, the record `question`. */
export const questionSchema = object<Question>({ change, by: text, askedAt: time, origin: originSchema });
