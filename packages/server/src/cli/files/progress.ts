import { SingleBar } from "cli-progress";

/** 128 and the number of SIGINT, as shells count. */
const interruptedExitCode = 130;

/** A bar on a terminal that counts to `total`; elsewhere nothing is shown. */
export function startProgress(total: number, noun: string): SingleBar | undefined {
  if (!process.stderr.isTTY) return undefined;
  const bar = new SingleBar({
    format: `{bar} {value}/{total} ${noun}, {eta_formatted} to go`,
    etaBuffer: 100,
  });
  bar.start(total, 0);
  // The bar changes the terminal's settings; Ctrl-C must give it back as it was.
  process.once("SIGINT", () => {
    bar.stop();
    process.stderr.write("Stopped. What is written stays, and the same command goes on from there.\n");
    process.exit(interruptedExitCode);
  });
  return bar;
}
