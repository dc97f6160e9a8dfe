/** The first SIGTERM or SIGINT. Only that one counts: a terminal signals every process of `npm start`, which also forwards it. */
export function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => resolve(signal));
  });
}
