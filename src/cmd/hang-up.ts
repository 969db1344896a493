/** SIGHUP from the first moment of a process: unheard, it would end it. */
export interface HangUps extends Disposable {
  /** Called for each SIGHUP from now on, and now when one came before. */
  answer(reload: () => void): void;
}

/** One that comes while the service starts is answered when it has started. */
export function listenToHangUps(): HangUps {
  let answering: (() => void) | undefined;
  let isWaiting = false;
  const heard = () => {
    isWaiting = answering === undefined;
    answering?.();
  };
  process.on('SIGHUP', heard);
  return {
    answer(reload) {
      answering = reload;
      if (isWaiting) heard();
    },
    [Symbol.dispose]: () => void process.off('SIGHUP', heard),
  };
}
