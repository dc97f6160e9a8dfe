/** 128 plus the number of SIGPIPE, as shells report it. */
export const closedPipeExitCode = 141;

/** Whether the output's reader has gone, as after `presage config | head -1`. */
export function isClosedPipe(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EPIPE";
}

/** Exits once the output cannot be written: silently if its reader has gone. */
export function endIfUnwritable(): void {
  process.stdout.on("error", (error) => {
    if (isClosedPipe(error)) process.exit(closedPipeExitCode);
    process.stderr.write(`The output cannot be written: ${error.message}\n`);
    process.exit(1);
  });
}
